"""Requests on any wire: translated, answered as chat completions would be, and rendered as that wire.

A request of Responses may refer to earlier replies and items instead of sending them; the server has to know those.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

import orjson

from conformance.faults import event_bytes
from conformance.profiles import Claims
from conformance.results import Refusal
from conformance.simulator import refusals
from conformance.simulator.faulty import with_named
from conformance.simulator.histories import RequestHistory
from conformance.simulator.http import STREAM_TYPE, as_json, headers, other_method, parts_of
from conformance.simulator.responder import STATE_HEADER, Responder
from conformance.simulator.store import ReplyStore
from conformance.transport.http import HttpReply
from conformance.wire.assemble import DONE_EVENT
from conformance.wire.exchange import Conversation, Exchange, model_of
from conformance.wire.native import CHAT, Native, NativeEvent
from conformance.wires import Wire, by_name

_PREVIOUS: Final = "responses.previous-response-id"
_NOT_STORED: Final = "responses.previous-response-not-stored"
_ITEM: Final = "responses.item-not-stored"
_BLOB: Final = "reasoning.details.altered"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of another wire.

    `native`: the request as it was. `streams`: whether it asks for a stream. `before`: the exchanges that led to it,
    translated; None if they have to be derived from it, as the server keeps none. `store`: what the server keeps; None
    if requests of this wire cannot refer to it. `parent`: the id of the kept reply that it continues; empty if there is
    none. `led`: gives the exchanges that led to it, if they are only needed where it is not accepted without them.
    """

    native: Native
    streams: bool = False
    before: Conversation | None = None
    store: ReplyStore | None = None
    parent: str = ""
    led: Callable[[], Conversation] | None = None


Given = Callable[[dict[str, Any], Asked | None], HttpReply]
"""Gives the reply to a request of chat completions, and to what it was on its own wire if it is a translation."""


class Missing(NamedTuple):
    """What the server does not know: the claim that gives the refusal, the values of its placeholders, and words."""

    claim: str
    values: Mapping[str, object]
    words: str


def earlier(native: Native, exchange: Exchange) -> Exchange:
    """Return an earlier exchange as it was on the wire of a later request, whose history it is part of."""
    wire = by_name(native.protocol)
    path = wire.path(exchange.request)
    # Cut from the native request, because a translation lacks what chat completions cannot hold.
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
    given: Given,
    kept: tuple[ReplyStore, Claims] | None = None,
    faults: Callable[[], Sequence[str]] = tuple,
    history: RequestHistory | None = None,
) -> HttpReply:
    """Return the reply to the path and the body of a request on a wire, plain or as a stream.

    `kept`: what the server keeps of earlier replies, and the claims that say whether requests may refer to them.
    `faults`: returns the names of the faults that the stream has, once the reply is given. `history`: what is known of
    the session.
    """
    if wire.name == CHAT:
        # The claims of a profile say how its chunks are cut, so what is given is a stream if the request asks for one.
        return given(body, None)
    exchange, asked = translated(wire, path, body, kept, history)
    # Each wire cuts a whole reply into events of its own, so what is given must not be a stream already.
    reply = given({**exchange.request, "stream": False}, asked)
    if reply.status != 200:
        return refused(wire, path, reply)
    claims = None if kept is None else kept[1]
    answered = as_native(wire, path, body, reply, claims, faults(), streams=asked.streams)
    if asked.store is not None:
        events = b"".join(parts_of(answered.reply)) if asked.streams else b""
        asked.store.add(path, body, orjson.dumps(answered.made), events, asked.parent)
        if history is not None:
            history.note(path, body, answered.made)
    return answered.reply


class NativeReply(NamedTuple):
    """A reply in the form of a wire: as it is sent, and whole, also if it is streamed."""

    reply: HttpReply
    made: dict[str, Any]


def as_native(
    wire: Wire,
    path: str,
    body: dict[str, Any],
    reply: HttpReply,
    claims: Claims | None,
    faults: Sequence[str] = (),
    *,
    streams: bool,
) -> NativeReply:
    """Return a whole reply of chat completions as a wire has it; `claims` are those about what the server keeps."""
    made = wire.writing.reply(_content(reply), body)
    if streams and wire.is_array(path):
        return NativeReply(as_json(200, [each.value for each in _events(wire, made, faults)]), made)
    if streams:
        events = [event_bytes(each) for each in _events(wire, made, faults)]
        events += [DONE_EVENT.encode()] if claims is not None and claims.get("stream.done") is True else []
        return NativeReply(HttpReply(200, tuple(events), headers(STREAM_TYPE)), made)
    return NativeReply(replace(as_json(200, made), headers={**headers("application/json"), **reply.headers}), made)


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


def translated(
    wire: Wire,
    path: str,
    body: dict[str, Any],
    kept: tuple[ReplyStore, Claims] | None,
    history: RequestHistory | None = None,
) -> tuple[Exchange, Asked]:
    """Return a request translated, and what it was, with what led to it; `kept` and `history` as in `answer`."""
    translate = wire.translate_one if history is None else history.translate
    sent = Exchange.of_plain(request=body, url=path, model=model_of(body))
    if kept is None:
        exchange = translate(sent)
        native = exchange.native or Native(wire.name, sent.request)
        return exchange, Asked(native, _streams(exchange))
    store, claims = kept
    parent = parent_of(body, store, claims)
    before: Sequence[Exchange] = ()
    led = None
    if parent and (history is None or not history.continues(body, parent)):
        session = store.session(parent)
        *before, exchange = wire.translate([*session, sent])
        if history is not None:
            history.restart(session, is_whole=wire.translate_one(sent).request == exchange.request)
    else:
        exchange = translate(sent)
        if parent:
            led = partial(_led, wire, sent, store, parent)
    native = exchange.native or Native(wire.name, sent.request)
    return exchange, Asked(native, _streams(exchange), tuple(before), store, parent, led)


def _led(wire: Wire, sent: Exchange, store: ReplyStore, parent: str) -> Conversation:
    return tuple(wire.translate([*store.session(parent), sent])[:-1])


def parent_of(body: Mapping[str, Any], store: ReplyStore, claims: Claims) -> str:
    """Return the id of the kept reply that a request continues; empty if there is none."""
    return store.parent(body, by_id=claims.get(_PREVIOUS) != "ignored")


def _streams(exchange: Exchange) -> bool:
    return bool(exchange.request.get("stream") is True)


def _events(wire: Wire, made: dict[str, Any], faults: Sequence[str]) -> Sequence[NativeEvent]:
    return with_named(faults, wire.name, wire.writing.events(made))


def missing(asked: Asked, claims: Claims) -> Missing | None:
    """Return the first thing that a request refers to and that the server does not know; None if it knows all.

    What a provider rejects or ignores altogether is not looked up.
    """
    return None if asked.store is None else next(_missing(asked, asked.store, claims), None)


def _missing(asked: Asked, store: ReplyStore, claims: Claims) -> Iterator[Missing]:
    body: Any = asked.native.request
    previous = body.get("previous_response_id")
    if type(previous) is str and previous and claims.get(_PREVIOUS) != "ignored" and not store.has(previous):
        yield Missing(_NOT_STORED, {"id": previous}, f"no reply with the id {previous!r:.80} is stored")
    if body.get("conversation") is not None:
        yield Missing("", {}, "the simulator has no conversations; send previous_response_id or the whole history")
    for place in asked.native.facts.get("unjudged", ()):
        item = body["input"][place[2]]
        if item.get("type") == "item_reference":
            yield Missing(_ITEM, _values(item, place[2]), f"no item with the id {item.get('id')!r:.80} is stored")
    if isinstance(claims.get(_BLOB), Mapping):
        for position in store.unknown_blobs(body.get("input")):
            words = "the encrypted content is not from this server"
            yield Missing(_BLOB, _values(body["input"][position], position), words)


def _values(item: Mapping[str, Any], position: int) -> dict[str, object]:
    return {"id": item.get("id"), "index": position}


def refuse(found: Missing, body: Mapping[str, Any], responder: Responder) -> HttpReply:
    """Refuse a request that refers to what the server does not know: as claimed, or in the simulator's words."""
    claimed = responder.context(body).claims.get(found.claim)
    if isinstance(claimed, Mapping):
        refusal: Refusal = refusals.of_claim(claimed, found.values)
        reply = responder.refuse(body, refusal)
    else:
        reply = responder.invalid(body, found.words)
    return replace(reply, headers={**reply.headers, **STATE_HEADER})


def answer_stored(method: str, identity: str, store: ReplyStore, responder: Responder) -> HttpReply:
    """Return the reply to a request for a stored reply, or to delete it."""
    if method not in ("GET", "HEAD", "DELETE"):
        return other_method(method, "GET, HEAD, DELETE")
    kept = store.stored(identity)
    if kept is None:
        return responder.generic({}, 404, f"no reply with the id {identity!r:.80} is stored")
    if method == "DELETE":
        store.delete(identity)
        return as_json(200, {"id": identity, "object": "response", "deleted": True})
    return as_json(200, kept)
