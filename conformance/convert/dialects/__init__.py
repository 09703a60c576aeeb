"""Other message models and the canonical transcript; every loss is named.

Each wire is a dialect, read and written by its folder in `conformance/wires/`. So are message models of no wire, one
module each: it defines `TITLE`, `to_canonical(native)` and `to_native(canonical)`, both `checked`; its name is that of
the module, in kebab-case. `schemas/wires/<name>/` or `schemas/dialects/<name>.json` describes its conversations,
`fixtures/dialects/<name>/` holds test vectors for any language. The canonical side is a list of messages, described by
`schemas/canonical/transcript.json`.
"""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import orjson

from conformance import wires
from conformance.documents.pointer import Place, render
from conformance.errors import InvalidDocument, UnknownName
from conformance.formats.records import located
from conformance.schemas import SchemaError, validator
from conformance.wire.arguments import decode, encode
from conformance.wire.drafts import Transcript
from conformance.wire.losses import Converted, Losses
from conformance.wire.plain import plain
from conformance.wires import Wire

CANONICAL: Final = "canonical"
INPUT: Final = "<input>"
OUTPUT: Final = "<output>"
"""What errors call the result of a conversion. An error with this name is a defect of the converter."""

_BOUNDS: Final = ("additionalProperties", "minItems", "maxItems", "minLength", "minProperties")
"""Keywords of schemas that say what a server takes, and not what can be read."""

MISCOUNTED: Final = "lost, and the usage does not add up"


Conversion: TypeAlias = Callable[[Any], Converted]


class CheckedConversion(Protocol):
    """A conversion that validates its input and its output; `file` is the name of the input in errors."""

    def __call__(self, value: Any, file: str = INPUT) -> Converted:
        """Return the converted value, and what was lost."""
        ...


@dataclass(frozen=True, slots=True)
class Dialect:
    """A message model: its name, its title, and the conversions to the canonical transcript and back."""

    name: str
    title: str
    to_canonical: CheckedConversion
    to_native: CheckedConversion


def checked(source: str, target: str) -> Callable[[Conversion], CheckedConversion]:
    """Return a decorator that lets a conversion from one dialect to another validate its input and its output.

    Integers beyond 64 bits and lone surrogates are replaced before, and named as lost.
    """

    def decorate(conversion: Conversion) -> CheckedConversion:
        @wraps(conversion)
        def convert(value: Any, file: str = INPUT) -> Converted:
            given, lost = storable(plain(value), file)
            validate(given, source, file)
            try:
                converted = conversion(given)
            except InvalidDocument as error:
                # Only an event stream is read further: its places are in an event or in its reply, not in the file.
                raise InvalidDocument(f"in the event stream: {located(error)}", file) from None
            validate(converted.value, target, OUTPUT)
            return Converted(converted.value, lost + converted.lost)

        return convert

    return decorate


def storable(value: Any, file: str = INPUT) -> Converted:
    """Return plain JSON values as UTF-8 and 64 bits can hold them; what is replaced is named as lost.

    Raises InvalidDocument for an integer that not even a float can hold.
    """
    losses = Losses()
    try:
        orjson.dumps(value)
    except TypeError:
        return losses.converted(_storable(value, (), losses, file))
    return Converted(value)


def _storable(value: Any, place: Place, losses: Losses, file: str) -> Any:
    if isinstance(value, str):
        text = _without_surrogates(value)
        if text != value:
            losses.add(place, "UTF-8 cannot hold a lone surrogate; replaced")
        return text
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        losses.add(place, "64 bits cannot hold the integer; becomes a float")
        try:
            return float(value)
        except OverflowError:
            raise InvalidDocument("expected a number that 64 bits can hold", file, None, render(place)) from None
    if isinstance(value, list):
        return [_storable(item, (*place, number), losses, file) for number, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    result = {}
    for key, item in value.items():
        name = _without_surrogates(key)
        if name != key:
            losses.add(place, f"UTF-8 cannot hold a lone surrogate; a key becomes {name!r:.60}")
        result[name] = _storable(item, (*place, name), losses, file)
    return result


def _without_surrogates(text: str) -> str:
    return text.encode(errors="replace").decode()


def names() -> tuple[str, ...]:
    """Return the name of every dialect, those of wires included, without the canonical one."""
    return tuple(sorted({*_modules(), *wires.NATIVE}))


def _modules() -> list[str]:
    """Return the names of the dialects that are modules of this package: message models of no wire."""
    stems = [
        path.stem
        for path in Path(__file__).parent.iterdir()
        if not path.name.startswith("_") and (path.suffix == ".py" or (path / "__init__.py").is_file())
    ]
    return [stem.replace("_", "-") for stem in stems]


@cache
def load(name: str) -> Dialect:
    """Return the dialect of that name; raises UnknownName with the nearest names."""
    if name == CANONICAL:
        unchanged = checked(CANONICAL, CANONICAL)(Converted)
        return Dialect(CANONICAL, "The canonical transcript.", unchanged, unchanged)
    if name not in names():
        raise UnknownName("dialect", name, (CANONICAL, *names()))
    if name not in _modules():
        return _of_wire(wires.by_name(name))
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    return Dialect(name, module.TITLE, module.to_canonical, module.to_native)


def _of_wire(wire: Wire) -> Dialect:
    """Return the dialect that the bodies of a wire are: requests, replies, and streams."""

    def read(native: Any) -> Converted:
        draft = Transcript()
        wire.reading.transcript(native if isinstance(native, dict) else _reply(native), draft)
        return draft.losses.converted(draft.messages)

    def _reply(stream: Any) -> dict[str, Any]:
        reply = wire.reading.assembled(stream)
        validate(reply, wire.name, "<stream>")
        return reply

    def write(canonical: list[dict[str, Any]]) -> Converted:
        losses = Losses()
        held = wire.writing.hold(canonical, losses)
        return losses.converted(wire.writing.conversation(_with_objects(held) if wire.holds_objects else held))

    return Dialect(
        wire.name,
        f"{wire.title}: a request, a reply, or a reply's event stream.",
        checked(wire.name, CANONICAL)(read),
        checked(CANONICAL, wire.name)(write),
    )


def _with_objects(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages in which the arguments of each call are the text of an object, as far as they can be read."""
    return [
        {**message, "tool_calls": [_with_object(call) for call in message["tool_calls"]]}
        if "tool_calls" in message
        else message
        for message in messages
    ]


def _with_object(call: dict[str, Any]) -> dict[str, Any]:
    arguments = encode(decode(call["function"]["arguments"]))
    return {**call, "function": {**call["function"], "arguments": arguments}}


def to_canonical(dialect: str, value: Any, file: str = INPUT) -> Converted:
    """Return a conversation of a dialect as the canonical transcript: a list of messages.

    `dialect` is one of `names()`, such as "messages" or "gemini". `value` is a conversation as
    `schemas/dialects/<dialect>.json` or `schemas/wires/<dialect>/` describes it; `file` is its name in errors. `.value`
    is valid by `schemas/canonical/transcript.json`. `.lost` names what the transcript cannot hold: a JSON Pointer into
    `value`, and the reason. Raises UnknownName if there is no such dialect, InvalidDocument with the pointer if the
    value is not valid in it, and TypeError for a value that JSON cannot hold.

    >>> converted = to_canonical("messages", {"max_tokens": 8, "messages": [{"role": "user", "content": "Hi"}]})
    >>> converted.value
    [{'role': 'user', 'content': 'Hi'}]
    >>> converted.lost
    (Loss(pointer='/max_tokens', reason='a transcript holds only messages'),)
    """
    return load(dialect).to_canonical(value, file)


def from_canonical(dialect: str, value: Any, file: str = INPUT) -> Converted:
    """Return a canonical transcript as a conversation of a dialect.

    `value` is a list of messages as `schemas/canonical/transcript.json` describes it; `file` is its name in errors.
    `.value` is valid by the schema of the dialect. `.lost` names what the dialect cannot hold: a JSON Pointer into
    `value`, and the reason. Raises UnknownName if there is no such dialect, InvalidDocument with the pointer if the
    value is not a canonical transcript, and TypeError for a value that JSON cannot hold.

    >>> converted = from_canonical("agent-loop", [{"role": "user", "content": "Hi", "name": "Ada"}])
    >>> converted.value
    [{'role': 'user', 'content': 'Hi'}]
    >>> converted.lost
    (Loss(pointer='/0/name', reason='a message of the loop has no such field'),)
    """
    return load(dialect).to_native(value, file)


def convert(value: Any, source: str, target: str, file: str = INPUT) -> Converted:
    """Convert a conversation from one dialect to another, by way of the canonical transcript.

    The losses of both steps are returned; those of the second point into the canonical transcript. Raises as
    `to_canonical` and `from_canonical` do.
    """
    load(target)
    canonical = to_canonical(source, value, file)
    native = from_canonical(target, canonical.value, OUTPUT)
    return Converted(native.value, canonical.lost + native.lost)


def validate(value: Any, name: str, file: str = INPUT) -> None:
    """Raise InvalidDocument for the first place where a value is not valid by a dialect's schema."""
    if name == CANONICAL or name in _modules():
        schema = "canonical/transcript" if name == CANONICAL else f"dialects/{name}"
        errors: Sequence[SchemaError] = validator(schema).errors(value)
    else:
        errors = _errors_of_body(value, wires.by_name(name))
    for error in errors[:1]:
        raise InvalidDocument(error.message, file, None, render(error.place))


def _errors_of_body(value: Any, wire: Wire) -> list[SchemaError]:
    """Return what is wrong with the messages in a body of a wire; the rest of it need not be whole, nor even there."""
    if isinstance(value, str) or (wire.streams_lists and isinstance(value, list)):
        return []
    is_request = not isinstance(value, dict) or not value.keys().isdisjoint(wire.asked)
    kind, held = ("request", wire.asked) if is_request else ("reply", wire.said)
    found = validator(f"wires/{wire.name}/{kind}").errors(value)
    return [each for each in found if each.keyword not in _BOUNDS and _is_about(each, held)]


def _is_about(error: SchemaError, held: Sequence[str]) -> bool:
    return error.place[0] in held if error.place else error.keyword == "type"
