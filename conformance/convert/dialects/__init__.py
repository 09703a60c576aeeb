"""Other message models and the canonical transcript: one module each, and nothing dropped in silence.

A dialect's module or package defines `TITLE`, `to_canonical(native)` and `to_native(canonical)`; its name is the
module's, in kebab-case. `schemas/dialects/<name>.json` is the shape of its conversations, `fixtures/dialects/<name>/`
holds vectors that any language can run. The canonical side is a list of messages as
`schemas/canonical/transcript.json` has it.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from conformance.documents.pointer import Place, render
from conformance.errors import InvalidDocument, UnknownName
from conformance.schemas import validator
from conformance.wire.plain import plain

CANONICAL: Final = "canonical"
INPUT: Final = "<input>"
OUTPUT: Final = "<output>"
"""What errors call the result of a conversion. An error with this name is a defect of the converter."""


class Loss(NamedTuple):
    """Something that the other side cannot hold: where it stood (a JSON Pointer into what was given), and why."""

    pointer: str
    reason: str


class Converted(NamedTuple):
    """What a conversion gave, and what it could not carry over."""

    value: Any
    lost: tuple[Loss, ...] = ()


Conversion: TypeAlias = Callable[[Any], Converted]


@dataclass(frozen=True, slots=True)
class Dialect:
    """A message model: its name, what it is, and the way to the canonical transcript and back."""

    name: str
    title: str
    to_canonical: Conversion
    to_native: Conversion


class Losses:
    """Collects what a conversion cannot carry over."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: list[Loss] = []

    def add(self, place: Place, reason: str) -> None:
        """Note that what stands at a place is not carried over."""
        self._found.append(Loss(render(place), reason))

    def converted(self, value: Any) -> Converted:
        """Return a value together with everything that was noted."""
        return Converted(value, tuple(self._found))


def arguments(
    call: Mapping[str, Any], place: Place, losses: Losses, beside: str, write: Callable[[Any], str]
) -> dict[str, Any]:
    """Return a call's arguments as the object that a dialect holds, and note what the call loses on the way.

    `beside` says why `extra_content` has no place there; `write` is how the dialect's own side writes an object.
    """
    if "extra_content" in call:
        losses.add((*place, "extra_content"), beside)
    text = call["function"]["arguments"]
    at = (*place, "function", "arguments")
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        losses.add(at, "not the text of a JSON object; an empty one stands in its place")
        return {}
    if write(value) != text:
        losses.add(at, "the text is written anew, so its bytes change")
    return value


def answers(transcript: Sequence[Mapping[str, Any]], position: int) -> tuple[dict[int, int], list[int]]:
    """Return which tool message answers which call of the assistant message at a position, and those that answer none.

    Calls that share an id are answered in their order. Only messages that follow at once are looked at.
    """
    waiting = [call["id"] for call in transcript[position].get("tool_calls") or ()]
    answered: dict[int, int] = {}
    strays: list[int] = []
    for at in range(position + 1, len(transcript)):
        if transcript[at]["role"] != "tool":
            break
        ident = transcript[at]["tool_call_id"]
        free = [number for number, each in enumerate(waiting) if each == ident and number not in answered]
        if free:
            answered[free[0]] = at
        else:
            strays.append(at)
    return answered, strays


def names() -> tuple[str, ...]:
    """Return the name of every dialect, without the canonical one."""
    stems = [
        path.stem
        for path in Path(__file__).parent.iterdir()
        if not path.name.startswith("_") and (path.suffix == ".py" or (path / "__init__.py").is_file())
    ]
    return tuple(sorted(stem.replace("_", "-") for stem in stems))


@cache
def load(name: str) -> Dialect:
    """Return the dialect of that name; raises UnknownName with the nearest ones."""
    if name == CANONICAL:
        return Dialect(CANONICAL, "The canonical transcript.", Converted, Converted)
    if name not in names():
        raise UnknownName("dialect", name, (CANONICAL, *names()))
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    return Dialect(name, module.TITLE, module.to_canonical, module.to_native)


def to_canonical(dialect: str, value: Any, file: str = INPUT) -> Converted:
    """Return a conversation of a dialect as the canonical transcript: a list of messages.

    `dialect` is one of `names()`, such as "anthropic" or "gemini". `value` is a conversation as
    `schemas/dialects/<dialect>.json` describes it; `file` is its name in errors. `.value` is valid by
    `schemas/canonical/transcript.json`. `.lost` names what the transcript cannot hold: a JSON Pointer into `value`,
    and the reason. Raises UnknownName if there is no such dialect, InvalidDocument with the pointer if the value is
    not valid in it, and TypeError for a value that JSON cannot hold.

    >>> converted = to_canonical("anthropic", {"max_tokens": 8, "messages": [{"role": "user", "content": "Hi"}]})
    >>> converted.value
    [{'role': 'user', 'content': 'Hi'}]
    >>> converted.lost
    (Loss(pointer='/max_tokens', reason='a transcript holds only messages'),)
    """
    converter = load(dialect)
    given = plain(value)
    demand(given, dialect, file)
    converted = converter.to_canonical(given)
    demand(converted.value, CANONICAL, OUTPUT)
    return converted


def from_canonical(dialect: str, value: Any, file: str = INPUT) -> Converted:
    """Return a canonical transcript as a conversation of a dialect.

    `value` is a list of messages as `schemas/canonical/transcript.json` describes it; `file` is its name in errors.
    `.value` is valid by `schemas/dialects/<dialect>.json`. `.lost` names what the dialect cannot hold: a JSON Pointer
    into `value`, and the reason. Raises UnknownName if there is no such dialect, InvalidDocument with the pointer if
    the value is not a canonical transcript, and TypeError for a value that JSON cannot hold.

    >>> converted = from_canonical("agent-loop", [{"role": "user", "content": "Hi", "name": "Ada"}])
    >>> converted.value
    [{'role': 'user', 'content': 'Hi'}]
    >>> converted.lost
    (Loss(pointer='/0/name', reason='a message of the loop has no such field'),)
    """
    converter = load(dialect)
    given = plain(value)
    demand(given, CANONICAL, file)
    converted = converter.to_native(given)
    demand(converted.value, dialect, OUTPUT)
    return converted


def convert(value: Any, source: str, target: str, file: str = INPUT) -> Converted:
    """Convert a conversation from one dialect to another, by way of the canonical transcript.

    The losses of both steps are returned; those of the second point into the canonical transcript. Raises as
    `to_canonical` and `from_canonical` do.
    """
    load(target)
    canonical = to_canonical(source, value, file)
    native = from_canonical(target, canonical.value, OUTPUT)
    return Converted(native.value, canonical.lost + native.lost)


def demand(value: Any, name: str, file: str = INPUT) -> None:
    """Raise InvalidDocument with the first place where a value departs from a dialect's schema."""
    schema = "canonical/transcript" if name == CANONICAL else f"dialects/{name}"
    for error in validator(schema).errors(value)[:1]:
        raise InvalidDocument(error.message, file, None, render(error.place))
