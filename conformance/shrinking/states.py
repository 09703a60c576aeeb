"""Conversations as plain values that can be cut at any place, and back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import orjson

from conformance.documents.pointer import Place
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.plain import is_event_stream

State: TypeAlias = tuple[dict[str, Any], ...]
"""One object per exchange: request, response, status, headers, url, model, date. A stream is the list of its events."""

_DATA: Final = "data: "
_EVENT: Final = "event: "
_EVENTS: Final = "events"


@dataclass(frozen=True, slots=True)
class Size:
    """How large a conversation is: exchanges, messages of all requests, and bytes of all bodies."""

    exchanges: int
    messages: int
    size: int

    def __str__(self) -> str:
        """Return the size in words."""
        words = [(self.exchanges, "exchange"), (self.messages, "message"), (self.size, "byte")]
        return ", ".join([f"{count:,} {word}{'' if count == 1 else 's'}" for count, word in words])


def state_of(conversation: Conversation) -> State:
    """Return the exchanges, as they were received, as values."""
    return tuple([_value(each.as_received) for each in conversation])


def conversation_of(state: Sequence[dict[str, Any]]) -> Conversation:
    """Return the exchanges that values stand for."""
    return tuple([_exchange(each) for each in state])


def size_of(state: Sequence[dict[str, Any]]) -> Size:
    """Return the size of a conversation."""
    lists = [each["request"].get(key) for each in state if isinstance(each["request"], dict) for key in _LISTS]
    messages = sum([len(each) for each in lists if isinstance(each, list)])
    bodies = [body for each in conversation_of(state) for body in (each.request, each.response) if body is not None]
    return Size(len(state), messages, sum([len(_bytes(body)) for body in bodies]))


_LISTS: Final = ("messages", "input", "contents")


def _bytes(body: Any) -> bytes:
    return body.encode("utf-8", "surrogatepass") if isinstance(body, str) else orjson.dumps(body)


def _value(exchange: Exchange) -> dict[str, Any]:
    response: Any = exchange.response
    if isinstance(response, str) and is_event_stream(response):
        response = {_EVENTS: list(_events(response))}
    return {
        "request": exchange.request,
        "response": response,
        "status": exchange.status,
        "headers": dict(exchange.headers),
        "url": exchange.url,
        "model": exchange.model,
        "date": exchange.date,
    }


def _exchange(value: dict[str, Any]) -> Exchange:
    response = value["response"]
    if isinstance(response, dict) and isinstance(response.get(_EVENTS), list):
        return Exchange.of_plain(**{**value, "response": "".join(map(_rendered, response[_EVENTS])), "streamed": True})
    return Exchange.of_plain(**value, streamed=isinstance(response, str) and is_event_stream(response))


def _events(text: str) -> Iterator[Any]:
    """Yield the events of a stream: an object for one whose data is JSON, and raw text for any other."""
    blocks = text.replace("\r\n", "\n").split("\n\n")
    for number, block in enumerate(blocks):
        end = "\n\n" if number < len(blocks) - 1 else ""
        name, rest = block.split("\n", 1) if block.startswith(_EVENT) and "\n" in block else ("", block)
        try:
            data = orjson.loads(rest.removeprefix(_DATA)) if end and rest.startswith(_DATA) else None
        except orjson.JSONDecodeError:
            data = None
        if isinstance(data, dict):
            yield {"name": name, "data": data}
        elif block or end:
            yield block + end


def _rendered(event: Any) -> str:
    if isinstance(event, str):
        return event
    name = f"{event['name']}\n" if event.get("name") else ""
    return f"{name}{_DATA}{orjson.dumps(event.get('data')).decode()}\n\n"


def holders(value: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the places of the lists and objects in a value that are not empty, the outer ones first."""
    level: list[tuple[Place, Any]] = [(place, value)]
    while level:
        below: list[tuple[Place, Any]] = []
        for at, held in level:
            if isinstance(held, (dict, list)) and held:
                yield at
                pairs = held.items() if isinstance(held, dict) else enumerate(held)
                below += [((*at, key), each) for key, each in pairs]
        level = below


def texts(value: Any) -> Iterator[str]:
    """Yield every text in a value; keys are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts(each)


def at(value: Any, place: Place) -> Any:
    """Return what is at a place."""
    for token in place:
        value = value[token]
    return value


def replaced(value: Any, place: Place, new: Any) -> Any:
    """Return a value with something else at a place; what is not on the way there is shared, not copied."""
    if not place:
        return new
    token, *rest = place
    if isinstance(value, list):
        return [replaced(each, tuple(rest), new) if at == token else each for at, each in enumerate(value)]
    return {key: replaced(each, tuple(rest), new) if key == token else each for key, each in value.items()}


def with_text(value: Any, old: str, new: str) -> Any:
    """Return a value in which a text is another one, alone or as a part of a longer text."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [with_text(each, old, new) for each in value]
    if isinstance(value, dict):
        return {key: with_text(each, old, new) for key, each in value.items()}
    return value
