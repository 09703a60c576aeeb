"""What a request refers to instead of sending it: earlier replies and items that the server has to know."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from conformance.profiles import Claims
from conformance.results import Refusal
from conformance.simulator import refusals
from conformance.simulator.natives import Asked
from conformance.simulator.responder import Responder, as_json, other_method
from conformance.simulator.store import ReplyStore
from conformance.transport.http import HttpReply

_PREVIOUS: Final = "responses.previous-response-id"
_NOT_STORED: Final = "responses.previous-response-not-stored"
_ITEM: Final = "responses.item-not-stored"
_BLOB: Final = "reasoning.details.altered"


class Missing(NamedTuple):
    """What the server does not know: the claim that gives the refusal, the values of its placeholders, and words."""

    claim: str
    values: Mapping[str, object]
    words: str


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
        return responder.refuse(body, refusal)
    return responder.invalid(body, found.words)


def answer(method: str, identity: str, store: ReplyStore, responder: Responder) -> HttpReply:
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
