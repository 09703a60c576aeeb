"""What translations share: a body in the making that remembers where its parts come from."""

import json
from collections.abc import Iterator, Mapping
from itertools import count, repeat
from typing import Any

import orjson

from conformance.documents.pointer import Place
from conformance.wire.exchange import Exchange
from conformance.wire.native import Native, NativeEvent
from conformance.wire.sse import Reading


class Draft:
    """The messages of a request in the making.

    `places`: the native place of each part, by its place in the translated exchange; neither has the number of the
    exchange. `turns`: how many of the messages are the assistant's.
    """

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.turns = 0
        self.places: dict[Place, Place] = {}

    def add(self, message: dict[str, Any], native: Place) -> Place:
        """Add a message that comes from a native place; return its own place."""
        place: Place = ("request", "messages", len(self.messages))
        self.messages.append(message)
        self.turns += message.get("role") == "assistant"
        self.places[place] = native
        return place


def as_chat(exchange: Exchange, request: Any, response: Any, native: Native, model: str) -> Exchange:
    """Return an exchange with its bodies translated; `model` counts if the exchange names none.

    A stream is translated into the reply that it adds up to.
    """
    return Exchange.of_plain(
        request,
        response,
        exchange.status,
        streamed=False,
        headers=exchange.headers,
        url=exchange.url,
        model=exchange.model or model,
        date=exchange.date,
        native=native,
    )


def events_of(reading: Reading) -> tuple[NativeEvent, ...]:
    """Return the events of a native stream, with their data as JSON."""
    try:
        values = list(map(orjson.loads, reading.data))
    except orjson.JSONDecodeError:
        values = list(map(_parsed, reading.data))
    return tuple(map(NativeEvent, map(reading.names.get, count(), repeat("")), values))


def objects(value: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the objects in a list, each with its position; nothing if it is no list."""
    for position, item in enumerate(value if type(value) is list else ()):
        if type(item) is dict:
            yield position, item


def as_object(value: Any) -> Mapping[str, Any]:
    """Return a value if it is an object, else an empty one."""
    return value if type(value) is dict else {}


def as_word(value: Any) -> str:
    """Return a value if it is a string, else the empty string, so that it can be looked up."""
    return value if type(value) is str else ""


def rendered(value: Any, *, sort: bool = False) -> str:
    """Return a value as compact JSON, whatever it holds: big integers and lone surrogates, too.

    `sort`: with the keys of objects in order.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort else None).decode()
    except TypeError:
        return json.dumps(value, separators=(",", ":"), sort_keys=sort)


def total(*counts: Any) -> int:
    """Return the sum of those counts that are whole numbers."""
    return sum([count for count in counts if type(count) is int])


def _parsed(data: str) -> Any:
    """Return the JSON value of an event's data; None if it is not JSON."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
