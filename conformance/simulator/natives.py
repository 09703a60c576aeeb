"""Requests on other wires: translated, answered as chat completions would be, and rendered as that wire."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from conformance.profiles import Claims
from conformance.simulator.raw import faulty
from conformance.simulator.responder import STREAM_TYPE, as_json, headers
from conformance.simulator.store import ReplyStore
from conformance.transport.http import HttpReply
from conformance.wire.exchange import Conversation, Exchange, model_of
from conformance.wire.native import CHAT, Native, NativeEvent
from conformance.wires import Wire, by_name, load


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of another wire.

    `native`: the request as it was. `before`: the exchanges that led to it, translated; None if they have to be derived
    from it, as the server keeps none. `store`: what the server keeps; None if requests of this wire cannot refer to it.
    `parent`: the id of the kept reply that it continues; empty if there is none.
    """

    native: Native
    before: Conversation | None = None
    store: ReplyStore | None = None
    parent: str = ""


Answer = Callable[[Mapping[str, Any], Asked], HttpReply]
"""Gives the plain reply to a translated request and to what it was on its own wire."""


def wire_at(path: str) -> Wire | None:
    """Return the wire that the simulator plays at a path, without its version; None if there is none."""
    return next((each for each in load() if each.served.fullmatch(path)), None)


def earlier(native: Native, exchange: Exchange) -> Exchange:
    """Return an earlier exchange as it was on the wire of a later request, whose history it is part of."""
    wire = by_name(native.protocol)
    path = wire.path(exchange.request)
    request = _cut(native, len(exchange.request["messages"]))
    asked = wire.writing.request(exchange.request) if request is None else request
    reply = wire.writing.reply(exchange.response, asked)
    return wire.translate_one(Exchange.of_plain(asked, reply, 200, url=path, model=exchange.model))


def _cut(native: Native, messages: int) -> dict[str, Any] | None:
    """Return a native request with only what stands before a message; None if it does not hold that message itself."""
    match native.places.get(("request", "messages", messages)):
        case ("request", str(key), int(position), *_):
            return {**native.request, key: native.request[key][:position]}
    return None


def answer(
    wire: Wire,
    path: str,
    body: dict[str, Any],
    given: Answer,
    kept: tuple[ReplyStore, Claims] | None = None,
    faults: Callable[[], Sequence[str]] = tuple,
) -> HttpReply:
    """Return the reply to the path and the body of a request on another wire, plain or as a stream.

    `kept`: what the server keeps of earlier replies, and the claims that say whether requests may refer to them.
    `faults`: returns the names of the faults that the stream has, once the reply is given.
    """
    sent = Exchange.of_plain(request=body, url=path, model=model_of(body))
    exchange, asked = _asked(wire, sent, kept)
    reply = given({**exchange.request, "stream": False}, asked)
    if reply.status != 200:
        return refused(wire, path, reply)
    made = wire.writing.reply(_content(reply), body)
    response: Any = made
    streams = exchange.request.get("stream") is True
    if streams and wire.is_array(path):
        answered = as_json(200, [each.value for each in _events(wire, made, faults())])
    elif streams:
        events = [event_bytes(each) for each in _events(wire, made, faults())]
        answered = HttpReply(200, tuple(events), headers(STREAM_TYPE))
        response = b"".join(events).decode()
    else:
        answered = replace(as_json(200, made), headers={**headers("application/json"), **reply.headers})
    if asked.store is not None:
        exchange = Exchange.of_plain(body, response, 200, streams, url=path, model=sent.model)
        asked.store.add(exchange, made, asked.parent)
    return answered


def refused(wire: Wire, path: str, reply: HttpReply) -> HttpReply:
    """Return a refusal in the shape of a wire, whatever the request was; one in a shape that is claimed stays so."""
    if wire.name == CHAT:
        return reply
    try:
        content = _content(reply)
    except orjson.JSONDecodeError:
        return reply
    if not isinstance(content, dict) or not isinstance(content.get("error"), dict):
        return reply
    made = wire.writing.reply(content, {})
    shown = as_json(reply.status, [made] if wire.is_array(path) else made)
    return replace(shown, headers={**headers("application/json"), **reply.headers})


def _content(reply: HttpReply) -> Any:
    return orjson.loads(reply.body if isinstance(reply.body, bytes) else b"".join(reply.body))


def _asked(wire: Wire, sent: Exchange, kept: tuple[ReplyStore, Claims] | None) -> tuple[Exchange, Asked]:
    """Return a request translated, and what it was, with what led to it."""
    if kept is None:
        exchange = wire.translate_one(sent)
        return exchange, Asked(exchange.native or Native(wire.name, sent.request))
    store, claims = kept
    parent = store.parent(sent.request, by_id=claims.get("responses.previous-response-id") != "ignored")
    *before, exchange = wire.translate([*store.session(parent), sent])
    native = exchange.native or Native(wire.name, sent.request)
    return exchange, Asked(native, tuple(before), store, parent)


def _events(wire: Wire, made: dict[str, Any], faults: Sequence[str]) -> Sequence[NativeEvent]:
    return faulty(faults, wire.name, wire.writing.events(made))


def event_bytes(event: NativeEvent) -> bytes:
    """Return an event as it is sent; one whose value is text is that text."""
    if isinstance(event.value, str):
        return event.value.encode()
    name = f"event: {event.name}\n".encode() if event.name else b""
    return name + b"data: " + orjson.dumps(event.value) + b"\n\n"
