"""The words of a claim's value, and of its model's name, that a file which shows the claim has to hold."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance import linear
from conformance.observations.sights import kinds

_LITERAL: Final = frozenset(
    {
        "field", "words", "word", "reasons", "switches", "body", "keepers", "movers", "mapping", "budget", "fixed",
        "kinds", "fields-refused", "conflicts", "limits", "pattern", "constraint", "kept", "status", "number", "bound",
        "verdict",
    }
)  # fmt: skip
"""Kinds of values with words of the wire; the others have words of this project's schema alone."""

_SCHEMA_KEYS: Final = frozenset(
    {
        "at", "equals", "in", "not-in", "present", "thinks", "keeps", "field", "values", "refusal", "kinds", "when",
        "verdict", "note", "pattern", "status", "message", "type", "param", "code", "body", "limit", "min", "max",
        "field-of", "also", "headers", "to", "from", "longest",
    }
)  # fmt: skip
_SCHEMA_WORDS: Final = frozenset(
    {
        "accepted", "ignored", "damaged", "unknown", "upstream", "impossible", "none", "named", "think-tags",
        "reasoning-tags", "thinking-parts", "reasoning-parts", "default", "sglang", "vllm",
    }
)  # fmt: skip
_FIXED: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{3,}")
_PLACEHOLDER: Final = re.compile(r"\{+[^{}]*\}+")
_GLOB: Final = re.compile(r"[*?\[\]]+")
_VENDOR: Final = re.compile(r"^([a-z]+\.(?=[a-z])|claude-(?=[a-z]+-\d))")
_MIN_MESSAGE: Final = 12
_MIN_MODEL: Final = 4


def messages(value: Any) -> tuple[str, ...]:
    """Return what is fixed in the error messages of a value, as quotes."""
    return tuple(dict.fromkeys(_messages(value)))


def words(claim: str, value: Any) -> tuple[str, ...]:
    """Return the words of a value that files write as the wire does; none if it has only words of this project.

    A pattern gives the letters that are fixed in it. Messages are not among the words.
    """
    kind = kinds().get(claim, "")
    if kind not in _LITERAL:
        return ()
    if kind == "pattern":
        patterns = value if isinstance(value, list) else [value]
        return tuple(dict.fromkeys([each for pattern in patterns for each in _fixed(str(pattern))]))
    found = dict.fromkeys(_words(value, top=kind in ("body", "mapping"), within=kind == "body"))
    return tuple([word for word in found if word.lower() not in _SCHEMA_WORDS])


def patterns(claim: str, value: Any) -> tuple[str, ...]:
    """Return the patterns of a value that a file can show: those with fixed letters, without which all texts fit."""
    if kinds().get(claim, "") != "pattern":
        return ()
    every = map(str, value if isinstance(value, list) else [value])
    return tuple([each for each in every if _fixed(each) and not linear.fault(each)])


def model_words(model: str) -> tuple[str, ...]:
    """Return the ways to write the name of a model section: whole, and without vendor and family; none for any model.

    The name of a glob ends with a star.
    """
    parts = _GLOB.split(model)
    longest = max(parts, key=len).strip("-/.:@")
    last = longest.rpartition("/")[2].rpartition(":")[2] or longest
    # Bedrock names its vendors before a dot, and people leave out the family of Claude's models.
    bare = _VENDOR.sub("", last)
    names = dict.fromkeys([each for each in (longest, last, bare) if len(each) >= _MIN_MODEL])
    # What a glob leaves open may follow: the file names one of the models.
    return tuple([f"{each}*" if len(parts) > 1 else each for each in names])


def _messages(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        message = value.get("message")
        if isinstance(message, str) and "status" in value:
            fixed = [part for part in _PLACEHOLDER.split(message) if len(part) >= _MIN_MESSAGE]
            if fixed:
                yield "…".join(fixed)
        for each in value.values():
            yield from _messages(each)
    elif isinstance(value, list):
        for each in value:
            yield from _messages(each)


def _words(value: Any, *, top: bool, within: bool = False) -> Iterator[str]:
    """Yield the words of a value; keys count where the value is a body (`within`), at its `top` for a mapping."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            if top or key not in _SCHEMA_KEYS:
                yield str(key)
            if key == "status":
                yield str(each)
            elif key not in ("message", "note", "also"):
                yield from _words(each, top=within, within=within)
    elif isinstance(value, list):
        for each in value:
            yield from _words(each, top=False)
    elif isinstance(value, str):
        # A pointer names the members on its way; the last ones are what a file has.
        yield from [part for part in value.split("/")[-1:] if value.startswith("/")] or ([value] if value else [])
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)


def _fixed(pattern: str) -> list[str]:
    plain = re.sub(r"\[[^\]]*\](\{[^}]*\}|[+*?])?|\\[a-zA-Z]|\(\?[^)]*\)", " ", pattern)
    return _FIXED.findall(plain)
