"""Verdicts and claims in words: the values of claims as the vocabulary defines them, refusals with status and text."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeAlias

import orjson

from conformance.documents import read_json
from conformance.observations.sights import kinds
from conformance.profiles import UNKNOWN, UPSTREAM
from conformance.resources import folder
from conformance.results import Verdict

Quote: TypeAlias = Callable[[str], str]
"""Formats literal text, such as a field name or an error message."""

VERDICTS: Final[Mapping[Verdict, tuple[str, str]]] = {
    Verdict.CONFORMS: ("✓", "observed: live, in recordings, with a real engine, or in the requests of an adapter"),
    Verdict.DECLARED: (
        "○",
        "not observed: the simulator plays what the profile claims, or the claim rests on its sources alone",
    ),
    Verdict.DEPARTS: ("~", "a SHOULD or MAY is not met, or some recordings contradict the claim"),
    Verdict.BREAKS: ("✗", "a MUST is not met"),
    Verdict.UNTESTED: ("–", "a scenario promised the check, but there was nothing to check"),
    Verdict.UNKNOWN: ("?", "no source was found, so nothing is claimed"),
    Verdict.ERRORED: ("!", "the check itself failed, which is a bug in this project"),
}
"""The mark and the meaning of each verdict, in every report."""

_EFFECTS: Final[Mapping[str, Mapping[bool, str]]] = {
    "thinks": {True: "thinking on", False: "thinking off"},
    "keeps": {True: "reasoning reaches the model", False: "reasoning does not reach the model"},
    "field": {},
}
"""The effects that a condition on a request may have, by their keys."""


_MESSAGE: Final = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\.)*)"')
_UNESCAPED: Final = re.compile(r"\\(.)")
_RAW: Final = "raw"


@cache
def _schema() -> Any:
    return read_json(folder("schemas") / "files" / "profile.json")


def describe(name: str, value: Any, quote: Quote) -> str:
    """Return a claim's value in words."""
    if value in (UNKNOWN, UPSTREAM):
        return "unknown" if value == UNKNOWN else "depends on the upstream provider"
    kind = kinds()[name]
    # The words for how a request is handled are common; a report explains them once.
    meanings: Mapping[str, str] = {} if kind == "verdict" else _meanings(kind)
    if isinstance(value, list):
        items = [_word(each, meanings, quote) if meanings else _value(each, quote) for each in value]
        between = ", " if all(isinstance(each, str | int) for each in value) else "; "
        return ("; or " if meanings else between).join(items) or "none"
    if isinstance(value, str | bool) and meanings:
        return _word(value, meanings, quote)
    if kind == "verdict":
        return _handling(value, quote)
    if kind == "mapping":
        return ", ".join([f"{quote(word)} counts as {quote(other)}" for word, other in value.items()])
    return _value(value, quote)


def handlings() -> tuple[tuple[str, str], ...]:
    """Return the words for how a provider handles a deviation, each with its meaning."""
    return tuple(_meanings("verdict").items())


def _meanings(kind: str) -> dict[str, str]:
    """Return what each word means that a claim of this kind can have."""
    words = _schema()["$defs"].get(kind, {}).get("$defs", {})
    return {word: each["description"] for word, each in words.items()}


def refusals(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Return all refusals in a claim's value, in order, including those in limits and conditions."""
    if isinstance(value, Mapping):
        if isinstance(value.get("status"), int):
            return (value,)
        return tuple([found for each in value.values() for found in refusals(each)])
    if isinstance(value, list):
        return tuple([found for each in value for found in refusals(each)])
    return ()


def wrapped_texts(refusal: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the upstream's error messages in the body of a gateway's refusal, which says little itself.

    They stand in `metadata.raw` or the like: as JSON in a string, or as text.
    """
    texts = []
    for key, text in _strings(refusal.get("body")):
        plain = text.replace("{{", "{").replace("}}", "}")
        found = _MESSAGE.search(plain)
        if found:
            texts.append(_UNESCAPED.sub(r"\1", found[1]))
        elif key == _RAW:
            texts.append(plain)
    return tuple(dict.fromkeys([" ".join(text.split()) for text in texts if text != refusal.get("message")]))


def _strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from _strings(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each, key)


def _word(value: Any, meanings: Mapping[str, str], quote: Quote) -> str:
    word = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{quote(word)} ({meanings[word]})" if word in meanings else quote(word)


def _value(value: Any, quote: Quote) -> str:
    """Return a value that the vocabulary does not define, or an item of a list of such values."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return _object(value, quote)
    return quote(value) if isinstance(value, str) else str(value)


def _object(value: Mapping[str, Any], quote: Quote) -> str:
    """Return an object in words: a refusal, a limit, or a condition with its effect."""
    if "status" in value:
        return _handling(value, quote)
    if "when" in value:
        when = " and ".join([_condition(each, quote) for each in value["when"]])
        return f"{when}: {_handling(value['verdict'], quote)}"
    if "refusal" in value:
        return f"{_limits(value, quote)}{_handling(value['refusal'], quote)}"
    for key, effects in _EFFECTS.items():
        if key in value:
            effect = value[key]
            names = [effect] if isinstance(effect, str) else effect
            shown = effects[effect] if effects else ", ".join([quote(name) for name in names])
            return f"{_condition(value, quote)}: {shown}"
    if "at" in value:
        bounds = [f"{word} {value[key]}" for key, word in (("min", "at least"), ("max", "at most")) if key in value]
        return ", ".join([quote(value["at"]), *bounds])
    return quote(orjson.dumps(value).decode())


def _condition(value: Mapping[str, Any], quote: Quote) -> str:
    at = quote(value["at"])
    if "equals" in value:
        return f"{at} is {_json(value['equals'], quote)}"
    for key, word in (("in", "one of"), ("not-in", "none of")):
        if key in value:
            return f"{at} is {word} {', '.join([_json(each, quote) for each in value[key]])}"
    return f"{at} is present" if value.get("present", True) else f"{at} is absent"


def _limits(value: Mapping[str, Any], quote: Quote) -> str:
    """Return what a limit allows; the handling of everything else follows it."""
    if "values" in value:
        mode = {True: " with thinking on", False: " with thinking off"}.get(value.get("thinks", ""), "")
        allowed = ", ".join([_json(each, quote) for each in value["values"]])
        return f"{quote(value['field'])}{mode}: only {allowed}; otherwise "
    if "field" in value:
        return f"{quote(value['field'])}: "
    return (
        "; ".join([f"{name} {quote(str(each))}" for name, each in value.items() if name != "refusal"]) + "; otherwise "
    )


def _handling(value: Any, quote: Quote) -> str:
    """Return how a provider handles a deviation: a word, or a refusal."""
    if not isinstance(value, Mapping):
        return str(value)
    texts = [quote(text) for text in (value.get("message"), *wrapped_texts(value)) if text]
    return f"refused with {value['status']}" + (f": {', which wraps '.join(texts)}" if texts else "")


def _json(value: Any, quote: Quote) -> str:
    return quote(orjson.dumps(value).decode())
