"""Texts of replies on other wires than chat completions that no reader of the wire reads, such as unknown blocks.

What a translation holds is known, and so is what a request said; prose in a reply that is neither is under a name that
the wire does not have.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from conformance.wire.exchange import Exchange
from conformance.wire.index import Index

_PROSE: Final = re.compile(r"\w\w+\W+\w\w+\W+\w\w+")
"""What a text of at least three words has, and an id, a signature or a name of a model has not."""

_KNOWN: Final = frozenset(
    {"citations", "annotations", "citationMetadata", "groundingMetadata", "logprobs", "error", "usage"}
)
"""Members whose texts are about an answer, and no text of their own."""

_OF_CALLS: Final = re.compile("argument|input_json|\\A(?:args|input|functionCall|function_call)\\Z")

_BESIDE: Final = frozenset({"type", "index", "id", "signature", "status", "role"})
"""The members of a block that mean nothing without its text."""

_SPACE: Final = re.compile(r"\s+")


class UnreadText(NamedTuple):
    """A text with the name that it has: its key, behind the type of its block if it has one."""

    name: str
    text: str


def unread(exchange: Exchange) -> UnreadText | None:
    """Return the first unread text of a reply on its own wire, plain or streamed; None if there is none.

    Of a stream, it is what is unread of the fragments of one name.
    """
    native = exchange.native
    if native is None or exchange.status != 200:
        return None
    messages = [reply.message for reply in Index((exchange,)).replies]
    known = _squeezed("".join([*_texts_of(messages), *_texts_of(native.request)]))
    found: dict[str, list[str]] = {}
    for value in [event.value for event in native.events] or [native.reply]:
        for name, text in _named(value, ""):
            if _squeezed(text) not in known:
                found.setdefault(name, []).append(text)
    joined = {name: "".join(texts) if native.events else texts[0] for name, texts in found.items()}
    return next((UnreadText(name, text) for name, text in joined.items() if _PROSE.search(text)), None)


def without(form: Any, text: str) -> Any:
    """Return what a reply said without a text, and without the block or part that held nothing else."""
    if isinstance(form, list):
        made = [without(each, text) for each in form]
        return [each for each, was in zip(made, form, strict=True) if each == was or not _is_empty(each)]
    if isinstance(form, dict):
        return {key: without(value, text) for key, value in form.items() if value != text}
    return form


def holds(form: Any, text: str) -> bool:
    """Return whether what a reply said has a text, which the parts of a stream need not add up to."""
    return text in list(_texts_of(form))


def _is_empty(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() <= _BESIDE


def _named(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield each text of a reply with its name."""
    if isinstance(value, list):
        for each in value:
            yield from _named(each, name)
    elif isinstance(value, dict):
        kind = value.get("type")
        for key, each in value.items():
            inner = f"{kind}.{key}" if isinstance(kind, str) and isinstance(each, str) else key
            if key not in _KNOWN and not _OF_CALLS.search(inner):
                yield from _named(each, inner)
    elif isinstance(value, str):
        yield name, value


def _texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts_of(each)


def _squeezed(text: str) -> str:
    return _SPACE.sub("", text)
