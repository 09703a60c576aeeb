"""The schema errors of a conversation, each assigned to the innermost element with a rule about its shape."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from conformance.documents.pointer import Place
from conformance.rules import load
from conformance.rules.context import SchemaFaults
from conformance.schemas import SchemaError, validator
from conformance.wire.elements import Body
from conformance.wire.index import Index
from conformance.wire.views import Side, View

BODIES: Final = {Side.CLIENT: "request", Side.PROVIDER: "response"}
"""The key of an exchange under which the places of a side begin."""

_NO_FAULTS: Final = SchemaFaults({}, {})
_BLOCK: Final = 200
"""How many chunks are validated at once if some are faulty: their errors hold many times their memory."""

_MESSAGE_DEPTH: Final = 4
"""The length of the place of a message, `/<exchange>/request/messages/<number>`. Only messages are closed objects."""


def find_schema_faults(index: Index) -> SchemaFaults:
    """Validate the bodies against the canonical schemas and assign each error to the element that contains it.

    Of the bodies of other wires, these are the events of streams.
    """
    errors = [
        *_errors("canonical/request", index.requests),
        *_errors("canonical/response", index.responses),
        *_errors_of_streams(index),
    ]
    shapes = _errors_of_events(index)
    if not errors and not shapes:
        return _NO_FAULTS
    unknown: dict[Place, list[SchemaError]] = {}
    misshapen = []
    for error in errors:
        if error.keyword == "additionalProperties":
            unknown.setdefault(error.place[:_MESSAGE_DEPTH], []).append(error)
        else:
            misshapen.append(error)
    if misshapen:
        sides = {error.place[1] for error in misshapen}
        owners = {element.place for view in _shaped() if BODIES[view.side] in sides for element in view.select(index)}
        for error in misshapen:
            place = error.place
            while place and place not in owners:
                place = place[:-1]
            shapes.setdefault(place, []).append(error)
    return SchemaFaults(shapes, unknown)


@cache
def _shaped() -> tuple[View, ...]:
    """Return the views whose rules only report what the schemas find."""
    return tuple(dict.fromkeys([rule.on for rule in load() if rule.by_schema]))


def _errors(name: str, bodies: Sequence[Body]) -> list[SchemaError]:
    if not bodies:
        return []
    judge = validator(name)
    return [
        error._replace(place=(*body.place, *error.place))
        for body in bodies
        if body.exchange.native is None and not judge.is_valid(body.value)
        for error in judge.errors(body.value)
    ]


def _errors_of_events(index: Index) -> dict[Place, list[SchemaError]]:
    """Return the errors in the events of other wires; one that continues another is as valid as that one."""
    found: dict[Place, list[SchemaError]] = {}
    for number, exchange in enumerate(index.conversation):
        native = exchange.native
        if native is None or not native.events:
            continue
        shape, continuing = validator(f"protocols/{native.protocol}/event"), native.continuing
        if all([shape.is_valid(event.value) for at, event in enumerate(native.events) if at not in continuing]):
            continue
        for at, event in enumerate(native.events):
            if not shape.is_valid(event.value):
                place: Place = (number, "response", at)
                errors = shape.errors(event.value)
                found[place] = [error._replace(place=(*place, *error.place)) for error in errors]
    return found


def _errors_of_streams(index: Index) -> Iterator[SchemaError]:
    """Yield the errors in the chunks of all streams; a chunk that repeats another is as valid as that one."""
    for stream in index.streams:
        chunks = stream.value.chunks
        # One call for all chunks costs half as much as a call per chunk.
        if validator("canonical/stream").is_valid([chunks[number] for number in chunks.special]):
            continue
        elements = index.of_exchange(index.chunks, int(stream.place[0]))
        for start in range(0, len(elements), _BLOCK):
            block = elements[start : start + _BLOCK]
            for error in validator("canonical/stream").errors([chunk.value for chunk in block]):
                number, *inside = error.place
                yield error._replace(place=(*block[int(number)].place, *inside))
