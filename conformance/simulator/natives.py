"""Requests on other wires: translated, answered as chat completions would be, and rendered as that wire."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from conformance.protocols import Protocol, by_name, load
from conformance.simulator.responder import STREAM_TYPE, as_json, headers
from conformance.transport.server import HttpReply
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.native import Native

Answer = Callable[[Mapping[str, Any], Native], HttpReply]
"""Gives the plain reply to a translated request and to what it was on its own wire."""


def protocol_at(path: str) -> Protocol | None:
    """Return the protocol that the simulator plays at a path; None if there is none."""
    return next((each for each in load() if path == each.path and each.rendering is not None), None)


def earlier(native: Native, exchange: Exchange) -> Exchange:
    """Return an earlier exchange as it was on the wire of a later request, whose history it is part of."""
    protocol = by_name(native.protocol)
    following = native.places["request", "messages", len(exchange.request["messages"])]
    request = {**native.request, "messages": native.request["messages"][: int(following[2])]}
    reply = protocol.played().reply(exchange.response)
    (made,) = protocol.translate([Exchange.of_plain(request, reply, 200, url=protocol.path, model=exchange.model)])
    return made


def answer(protocol: Protocol, body: dict[str, Any], given: Answer) -> HttpReply:
    """Return the reply to the body of a request on another wire, plain or as a stream."""
    rendering = protocol.played()
    asked = Exchange.of_plain(request=body, url=protocol.path, model=model_of(body))
    (exchange,) = protocol.translate([asked])
    native = exchange.native or Native(protocol.name, body)
    reply = given({**exchange.request, "stream": False}, native)
    content = orjson.loads(reply.body if isinstance(reply.body, bytes) else b"".join(reply.body))
    made = rendering.reply(content)
    if body.get("stream") is not True or reply.status != 200:
        return replace(as_json(reply.status, made), headers={**headers("application/json"), **reply.headers})
    lines = [f"event: {each.name}\ndata: {orjson.dumps(each.value).decode()}\n\n" for each in rendering.events(made)]
    return HttpReply(200, tuple([line.encode() for line in lines]), headers(STREAM_TYPE))
