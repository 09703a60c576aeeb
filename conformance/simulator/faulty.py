"""Replies with faults of real servers, which no profile claims and which clients have to cope with.

A scenario, or one of its turns, names the faults of its stream under `raw`. `conformance serve --fault` adds faults to
every good reply: after the simulator has checked it, so that they are all that is wrong with it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from conformance.faults import Outgoing, ServerFault, load
from conformance.simulator.http import STREAM_TYPE, divided, wire_at
from conformance.transport.http import HttpReply, HttpRequest
from conformance.wire.native import NativeEvent
from conformance.wire.plain import reply_body

_DATA: Final = "data: "
_NAME: Final = "event: "


def with_named(names: Sequence[str], wire: str, events: Iterable[NativeEvent]) -> tuple[NativeEvent, ...]:
    """Return the events of a stream that has the named faults; another wire may not have them."""
    sent = Outgoing(wire, events=tuple(events))
    for name in names:
        sent = load(name).apply(sent)
    return sent.events or ()


def event_bytes(event: NativeEvent) -> bytes:
    """Return an event as it is sent; one whose value is text is that text."""
    if isinstance(event.value, str):
        return event.value.encode()
    name = f"event: {event.name}\n".encode() if event.name else b""
    return name + b"data: " + orjson.dumps(event.value) + b"\n\n"


def with_faults(
    answer: Callable[[HttpRequest], HttpReply], faults: Sequence[ServerFault]
) -> Callable[[HttpRequest], HttpReply]:
    """Return the answers of a simulator with faults in every good reply; those of another wire or variant stay good."""

    def faulty(request: HttpRequest) -> HttpReply:
        reply, wire = answer(request), _wire(request)
        return reply if wire is None or reply.status != 200 else _changed(wire, reply, faults)

    return faulty if faults else answer


def _wire(request: HttpRequest) -> str | None:
    """Return the wire of a request for a reply of the model; None for any other."""
    wire = wire_at(divided(request.path.partition("?")[0])[1]) if request.method == "POST" else None
    return None if wire is None else wire.name


def _changed(wire: str, reply: HttpReply, faults: Sequence[ServerFault]) -> HttpReply:
    content = reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)
    is_stream = reply.headers["content-type"].startswith(STREAM_TYPE) or not isinstance(reply.body, bytes)
    value = None if is_stream else reply_body(content)
    # A stream of Gemini can be one JSON array of its events.
    listed = tuple([NativeEvent("", each) for each in value]) if isinstance(value, list) else None
    events = tuple([_event(each) for each in content.decode().split("\n\n") if each]) if is_stream else listed
    sent = Outgoing(wire, value if events is None else None, events)
    for fault in faults:
        sent = fault.apply(sent)
    if sent.events is None:
        return replace(reply, body=orjson.dumps(sent.body))
    if listed is not None:
        return replace(reply, body=orjson.dumps([each.value for each in sent.events]))
    return replace(reply, body=tuple([event_bytes(each) for each in sent.events]))


def _event(text: str) -> NativeEvent:
    """Return an event; its value is its text if that is more or less than a name and JSON data."""
    name, is_named, rest = text.removeprefix(_NAME).partition("\n") if text.startswith(_NAME) else ("", "", text)
    try:
        value: Any = orjson.loads(rest.removeprefix(_DATA)) if rest.startswith(_DATA) else f"{text}\n\n"
    except orjson.JSONDecodeError:
        value = f"{text}\n\n"
    return NativeEvent(name if is_named else "", value)
