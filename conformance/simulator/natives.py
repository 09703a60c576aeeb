"""Requests on other wires: translated, answered as chat completions would be, and rendered as that wire."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from conformance.protocols import Protocol, by_name, load
from conformance.simulator.responder import STREAM_TYPE, as_json, headers
from conformance.transport.server import HttpReply
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.native import Native, NativeEvent

Answer = Callable[[Mapping[str, Any], Native], HttpReply]
"""Gives the plain reply to a translated request and to what it was on its own wire."""


def protocol_at(path: str) -> Protocol | None:
    """Return the protocol that the simulator plays at a path, without its version; None if there is none."""
    return next((each for each in load() if each.rendering is not None and each.served.fullmatch(path)), None)


def earlier(native: Native, exchange: Exchange) -> Exchange:
    """Return an earlier exchange as it was on the wire of a later request, whose history it is part of."""
    protocol = by_name(native.protocol)
    played, path = protocol.played(), protocol.path(exchange.request)
    request = _cut(native, len(exchange.request["messages"]))
    asked = played.request(exchange.request) if request is None else request
    reply = played.reply(exchange.response)
    return protocol.translate_one(Exchange.of_plain(asked, reply, 200, url=path, model=exchange.model))


def _cut(native: Native, messages: int) -> dict[str, Any] | None:
    """Return a native request with only what stands before a message; None if it does not hold that message itself."""
    match native.places.get(("request", "messages", messages)):
        case ("request", str(key), int(position), *_):
            return {**native.request, key: native.request[key][:position]}
    return None


def answer(protocol: Protocol, path: str, body: dict[str, Any], given: Answer) -> HttpReply:
    """Return the reply to the path and the body of a request on another wire, plain or as a stream."""
    rendering = protocol.played()
    exchange = protocol.translate_one(Exchange.of_plain(request=body, url=path, model=model_of(body)))
    native = exchange.native or Native(protocol.name, body)
    reply = given({**exchange.request, "stream": False}, native)
    content = orjson.loads(reply.body if isinstance(reply.body, bytes) else b"".join(reply.body))
    made = rendering.reply(content)
    if exchange.request.get("stream") is not True or reply.status != 200:
        return replace(as_json(reply.status, made), headers={**headers("application/json"), **reply.headers})
    return HttpReply(200, tuple([_event(each) for each in rendering.events(made)]), headers(STREAM_TYPE))


def _event(event: NativeEvent) -> bytes:
    name = f"event: {event.name}\n".encode() if event.name else b""
    return name + b"data: " + orjson.dumps(event.value) + b"\n\n"
