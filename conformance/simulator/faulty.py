"""Replies with faults of real servers, which no profile claims and which clients have to cope with.

A scenario, or one of its turns, names the faults of its stream under `raw`. `conformance serve --fault` adds faults to
every reply that can have them: after the simulator has checked it, so that they are all that is wrong with it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from conformance.faults import Outgoing, ServerFault, event_bytes, load
from conformance.simulator.http import STREAM_TYPE, divided, wire_at
from conformance.transport.http import HttpReply, HttpRequest
from conformance.wire.native import NativeEvent
from conformance.wire.plain import reply_body

_DATA: Final = "data: "
_NAME: Final = "event: "
_REMEMBERED: Final = 64
"""So many earlier replies a fault can look at."""


def with_named(names: Sequence[str], wire: str, events: Iterable[NativeEvent]) -> tuple[NativeEvent, ...]:
    """Return the events of a stream that has the named faults; another wire may not have them."""
    sent = Outgoing(wire, events=tuple(events))
    for name in names:
        sent = load(name).apply(sent)
    return sent.events or ()


def with_faults(
    answer: Callable[[HttpRequest], HttpReply], faults: Sequence[ServerFault]
) -> Callable[[HttpRequest], HttpReply]:
    """Return the answers of a simulator with faults in every reply that can have them; all others stay as they are.

    A fault sees the last replies before its own, whoever asked for them.
    """
    earlier: deque[Outgoing] = deque(maxlen=_REMEMBERED)

    def faulty(request: HttpRequest) -> HttpReply:
        reply, wire = answer(request), _wire(request)
        if wire is None:
            return reply
        sent = good = _outgoing(wire, request, reply)
        if faults:
            sent = sent._replace(earlier=tuple(earlier))
            # Without its faults: a fault that repeats what it sees would see itself.
            earlier.append(good)
        for fault in faults:
            sent = fault.apply(sent)
        return _reply(reply, sent) if sent.differs(good) else reply

    return faulty if faults else answer


def _wire(request: HttpRequest) -> str | None:
    """Return the wire of a request for a reply of the model; None for any other."""
    wire = wire_at(divided(request.path.partition("?")[0])[1]) if request.method == "POST" else None
    return None if wire is None else wire.name


def _outgoing(wire: str, request: HttpRequest, reply: HttpReply) -> Outgoing:
    content = reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)
    asked = reply_body(request.body)
    about: dict[str, Any] = {
        "request": asked if isinstance(asked, dict) else {},
        "status": reply.status,
        "headers": reply.headers,
    }
    if reply.headers["content-type"].startswith(STREAM_TYPE) or not isinstance(reply.body, bytes):
        events = tuple([_event(each) for each in content.decode().split("\n\n") if each])
        return Outgoing(wire, events=events, **about)
    value = reply_body(content)
    if isinstance(value, list) and reply.status == 200:
        # A stream of Gemini can be one JSON array of its events.
        return Outgoing(wire, events=tuple([NativeEvent("", each) for each in value]), **about)
    return Outgoing(wire, value, **about)


def _reply(reply: HttpReply, sent: Outgoing) -> HttpReply:
    """Return a reply with what is sent in its place."""
    changed = replace(reply, status=sent.status, headers=sent.headers)
    is_array = sent.events is not None and isinstance(reply.body, bytes) and reply.headers == sent.headers
    if sent.content is not None or sent.events is None:
        return replace(changed, body=sent.raw())
    if is_array:
        return replace(changed, body=orjson.dumps([each.value for each in sent.events]))
    return replace(changed, body=tuple(map(event_bytes, sent.events)))


def _event(text: str) -> NativeEvent:
    """Return an event; its value is its text if that is more or less than a name and JSON data."""
    name, is_named, rest = text.removeprefix(_NAME).partition("\n") if text.startswith(_NAME) else ("", "", text)
    try:
        value: Any = orjson.loads(rest.removeprefix(_DATA)) if rest.startswith(_DATA) else f"{text}\n\n"
    except orjson.JSONDecodeError:
        value = f"{text}\n\n"
    return NativeEvent(name if is_named else "", value)
