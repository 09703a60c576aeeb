"""The schema errors of a conversation, each assigned to the innermost element with a rule about its shape."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.rules import load
from conformance.rules.context import SchemaFaults
from conformance.schemas import SchemaError, validator
from conformance.wire.elements import Body
from conformance.wire.index import Index
from conformance.wire.parts import ExchangePart
from conformance.wire.patterns import Chunks
from conformance.wire.views import Side, View

BODIES: Final = {Side.CLIENT: "request", Side.PROVIDER: "response"}
"""The key of an exchange under which the places of a side begin."""

_NO_FAULTS: Final = SchemaFaults({}, {})
_OF_KEYS: Final = ("additionalProperties", "propertyNames", "required")
_NESTED: Final = ("array", "object")
_BLOCK: Final = 200
"""How many chunks are validated at once if some are faulty: their errors hold many times their memory."""

_LEAST: Final = {"model": ""}
"""What a request needs beside messages."""
_LIST_DEPTH: Final = 3
_REMEMBERED: Final = 4096
"""Of how many messages the errors are kept for other forms of their request."""
_MESSAGE_DEPTH: Final = 4
"""The length of the place of a message, `/<exchange>/request/messages/<number>`. Only messages are closed objects."""


class SchemaFinder:
    """Validates the exchanges of a conversation, and assigns each error to the element that contains it.

    Messages that an earlier request had are not validated again.
    """

    def __init__(self) -> None:
        """Begin without any exchange."""
        self._errors: list[list[SchemaError]] = []

    def add(self, index: Index, number: int) -> SchemaFaults:
        """Return the errors of the next exchange; of the bodies of other wires, these are the events of streams."""
        part = index.parts[number]
        asked = self._of_request(part) if index.shared is None else _of_form(part, index.shared)
        self._errors.append(asked)
        errors = [*asked, *_errors("canonical/response", part.responses)]
        shapes = {**_errors_of_events(index, number), **_errors_of_streams(part)}
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
            owners = _owners(index, number, misshapen)
            for error in misshapen:
                place = error.place
                # From the inside out: a fault in a tool call belongs to the rule about calls, not to that about
                # messages.
                while place and place not in owners:
                    place = place[:-1]
                shapes.setdefault(place, []).append(error)
        return SchemaFaults(shapes, unknown)

    def _of_request(self, part: ExchangePart) -> list[SchemaError]:
        """Return the errors of a request: those of messages that were there before, and those of the others."""
        if not part.start or part.earlier is None or part.exchange.native is not None:
            return _errors("canonical/request", part.requests)
        before, start = self._errors[part.earlier.number], part.start
        (body,) = part.requests
        # All else is as in the earlier request, where it was found right.
        rest = body.value if before else _LEAST
        fresh = body._replace(value={**rest, "messages": (part.listed or [])[start:]})
        found = _errors("canonical/request", [fresh])
        if not before and not found:
            return []
        if len(found) and not all(
            error.place[2:3] == ("messages",) and len(error.place) > _LIST_DEPTH for error in found
        ):
            return _errors("canonical/request", part.requests)
        kept = [error for error in before if error.place[2:3] == ("messages",) and _position(error) < start]
        return [
            *[error._replace(place=(part.number, *error.place[1:])) for error in kept],
            *[
                error._replace(
                    place=(*error.place[:_LIST_DEPTH], _position(error) + start, *error.place[_MESSAGE_DEPTH:])
                )
                for error in found
            ],
        ]


def _of_form(part: ExchangePart, shared: dict[Any, Any]) -> list[SchemaError]:
    """Return the errors of a request that shares messages with other forms of it, each of which is validated once."""
    listed = part.listed
    if not listed or not part.requests or part.exchange.native is not None:
        return _errors("canonical/request", part.requests)
    # Each message is held, so that no other object gets its identity.
    known: dict[int, tuple[Any, list[SchemaError]]] = shared.setdefault(SchemaFinder, {})
    (body,) = part.requests
    fresh = [message for message in listed if id(message) not in known] or listed[:1]
    found = _errors("canonical/request", [body._replace(value={**body.value, "messages": fresh})])
    if len(known) + len(fresh) > _REMEMBERED or any(error.place[2:] == ("messages",) for error in found):
        known.clear()
        return _errors("canonical/request", part.requests)
    rest = [error for error in found if error.place[2:3] != ("messages",)]
    for position, message in enumerate(fresh):
        known[id(message)] = message, [error for error in found if _of_message(error, position)]
    # In order: what stands before the messages, then these, then what stands after them.
    return [
        *[error for error in rest if error.place[2:3] < ("messages",)],
        *[
            error._replace(place=(part.number, "request", "messages", position, *error.place[_MESSAGE_DEPTH:]))
            for position, message in enumerate(listed)
            for error in known[id(message)][1]
        ],
        *[error for error in rest if error.place[2:3] > ("messages",)],
    ]


def _of_message(error: SchemaError, position: int) -> bool:
    return error.place[2:_MESSAGE_DEPTH] == ("messages", position)


def _position(error: SchemaError) -> int:
    return int(error.place[_LIST_DEPTH]) if len(error.place) > _LIST_DEPTH else -1


def _owners(index: Index, number: int, errors: Sequence[SchemaError]) -> set[Place]:
    """Return the places of the elements with a rule about their shape, those at least that hold an error."""
    holding = {error.place[:end] for error in errors for end in range(len(error.place) + 1)}
    sides = {error.place[1] for error in errors}
    found: set[Place] = set()
    for view in [each for each in _shaped() if BODIES[each.side] in sides]:
        elements = view.of(index, number) if view.at is None else view.at(index, number, holding)
        found |= {element.place for element in elements}
    return found


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


def _errors_of_events(index: Index, number: int) -> dict[Place, list[SchemaError]]:
    """Return the errors in the events of other wires; one that continues another is as valid as that one."""
    native = index.conversation[number].native
    if native is None or not native.events:
        return {}
    shape, continuing = validator(f"wires/{native.protocol}/event"), native.continuing
    if all([shape.is_valid(event.value) for at, event in enumerate(native.events) if at not in continuing]):
        return {}
    found: dict[Place, list[SchemaError]] = {}
    for at, event in enumerate(native.events):
        if not shape.is_valid(event.value):
            place: Place = (number, "response", at)
            errors = shape.errors(event.value)
            found[place] = [error._replace(place=(*place, *error.place)) for error in errors]
    return found


def _errors_of_streams(part: ExchangePart) -> dict[Place, list[SchemaError]]:
    """Return the errors in the chunks of a stream; one that repeats another has the errors of that one."""
    found: dict[Place, list[SchemaError]] = {}
    for stream in part.streams:
        judge, chunks = validator("canonical/stream"), stream.value.chunks
        # One call for all chunks costs half as much as a call per chunk.
        if judge.is_valid(chunks.special_objects()):
            continue
        for number, errors in _errors_of_chunks(chunks, stream.ordinary()):
            are_same = all(map(_is_of_any_text, errors))
            for each in (number, *chunks.repeating(number)):
                own = errors if are_same or each == number else judge.errors([chunks[each]])
                place: Place = (*stream.place, each)
                found[place] = [error._replace(place=(*place, *error.place[1:])) for error in own]
    return found


def _errors_of_chunks(chunks: Chunks, numbers: Sequence[int]) -> Iterator[tuple[int, tuple[SchemaError, ...]]]:
    """Yield the errors of chunks, by their numbers; the first token of their places says nothing."""
    judge = validator("canonical/stream")
    for start in range(0, len(numbers), _BLOCK):
        block = numbers[start : start + _BLOCK]
        errors = judge.errors([chunks[number] for number in block])
        for at, some in groupby(errors, key=lambda error: error.place[0]):
            yield block[int(at)], tuple(some)


def _is_of_any_text(error: SchemaError) -> bool:
    """Return whether an error says the same of chunks that differ in a text, since it shows keys or no text."""
    return error.keyword in _OF_KEYS or error.got not in _NESTED
