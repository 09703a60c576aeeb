"""The targets of mutations on other wires: handles that change the bodies of that wire in place."""

from collections.abc import Iterator, Sequence
from typing import Any

from tests.mutation.bases import Record
from tests.mutation.definition import Find
from tests.mutation.targets import Slot


def last(find: Find) -> Find:
    """Return a finder of the last target in each exchange."""

    def found(records: Sequence[Record]) -> Iterator[Any]:
        for record in records:
            yield from list(find([record]))[-1:]

    return found


def where(find: Find, is_wanted: Any) -> Find:
    """Return a finder of the targets of another one for which a predicate holds."""
    return lambda records: (each for each in find(records) if is_wanted(each))


def messages(*roles: str) -> Find:
    """Return a finder of the messages of Messages: those with these roles."""
    return lambda records: (
        Slot(record["request"]["messages"], at, record)
        for record in records
        for at, message in enumerate(record["request"]["messages"])
        if message["role"] in roles
    )


def blocks(*kinds: str) -> Find:
    """Return a finder of the blocks of these kinds in the messages of requests."""
    return lambda records: (
        each
        for message in messages("user", "assistant")(records)
        if isinstance(message.value["content"], list)
        for each in _of_type(message.value["content"], kinds, message.record)
    )


def reply_blocks(*kinds: str) -> Find:
    """Return a finder of the blocks of these kinds in plain replies."""
    return lambda records: (
        each
        for record in records
        if isinstance(record["response"], dict)
        for each in _of_type(record["response"]["content"], kinds, record)
    )


def items(*kinds: str) -> Find:
    """Return a finder of the items of these kinds in the input of requests; an item without a type is a message."""
    return lambda records: (
        each
        for record in records
        if isinstance(record["request"]["input"], list)
        for each in _of_type(record["request"]["input"], kinds, record)
    )


def output_items(*kinds: str) -> Find:
    """Return a finder of the items of these kinds in plain replies."""
    return lambda records: (
        each
        for record in records
        if isinstance(record["response"], dict)
        for each in _of_type(record["response"]["output"], kinds, record)
    )


def contents(role: str) -> Find:
    """Return a finder of the contents with a role in requests."""
    return lambda records: (
        Slot(record["request"]["contents"], at, record)
        for record in records
        for at, content in enumerate(record["request"]["contents"])
        if content["role"] == role
    )


def parts(role: str, key: str) -> Find:
    """Return a finder of the parts with a key in the contents with a role."""
    return lambda records: (
        Slot(content.value["parts"], at, content.record)
        for content in contents(role)(records)
        for at, part in enumerate(content.value["parts"])
        if key in part
    )


def replies(records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Yield the plain replies."""
    return (record["response"] for record in records if isinstance(record["response"], dict))


def events(*kinds: str) -> Find:
    """Return a finder of the events of streams: those of these types, or all."""
    return lambda records: (
        each
        for record in records
        if isinstance(record["response"], list)
        for each in _of_type(record["response"], kinds, record)
    )


def _of_type(listed: list[Any], kinds: Sequence[str], record: Record) -> Iterator[Slot]:
    for at, value in enumerate(listed):
        # The text that marks the end of a stream is no event.
        if isinstance(value, dict) and (not kinds or value.get("type", "message") in kinds):
            yield Slot(listed, at, record)
