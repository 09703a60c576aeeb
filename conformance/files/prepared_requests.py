"""Requests as `prepare` makes them for a provider, on whichever wire it speaks, and which of a session are worth it."""

from typing import Any, Final

from conformance import convert
from conformance.convert.native import native_request
from conformance.profiles import Profile
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.native import CHAT
from conformance.wire.values import as_object

_COMMON: Final = frozenset(
    {
        "max_tokens", "messages", "metadata", "model", "parallel_tool_calls", "seed", "service_tier", "store", "stream",
        "temperature", "tool_choice", "tools", "top_p", "user",
    }
)  # fmt: skip
"""The parameters that chat completions share with other wires; all others of a native request mean nothing there."""
MAX_PREPARED: Final = 2000
"""How many messages of a session are prepared for each provider of another wire; the last request always is."""


def as_prepared(exchange: Exchange, profile: Profile, model: str, as_of: str) -> tuple[Exchange, list[str]]:
    """Return the request as it is sent to a provider, and what of it could not be kept."""
    own = {} if exchange.native is None else exchange.native.request
    body = {key: value for key, value in exchange.request.items() if key in _COMMON or key not in own}
    prepared = convert.prepare(body, profile, model=model, date=as_of or exchange.date)
    notes = [note.reason for note in prepared.notes if not note.fixed]
    body = {**body, "model": model, "messages": prepared.messages}
    if profile.wire == CHAT:
        return Exchange.of_plain(request=body, model=model, date=exchange.date), notes
    sent = native_request(body, prepared.origins, profile.wire)
    return sent.exchange, [*notes, *[note.reason for note in sent.notes if not note.fixed]]


def spoken(profile: Profile, wire: str) -> Profile:
    """Return a profile on a wire, or on the first one that it speaks."""
    if wire in profile.wires:
        return profile.on(wire)
    return profile if profile.claims else next(iter(profile.protocols.values()))


def to_prepare(conversation: Conversation) -> tuple[list[int], int]:
    """Return the exchanges whose requests are prepared for other wires, the last first, and how many are left out.

    A request that a later one repeats says nothing new.
    """
    chosen: list[int] = []
    left = size = 0
    for number in range(len(conversation) - 1, -1, -1):
        request = conversation[number].request
        if request is None or any(_contains(conversation[later].request, request) for later in chosen):
            continue
        size += len(_messages(request))
        if chosen and size > MAX_PREPARED:
            left += 1
        else:
            chosen.append(number)
    return chosen, left


def _contains(later: Any, earlier: Any) -> bool:
    """Return whether a request repeats another one and goes on from there."""
    mine, theirs = _messages(later), _messages(earlier)
    rest = [{key: value for key, value in as_object(each).items() if key != "messages"} for each in (later, earlier)]
    return rest[0] == rest[1] and mine[: len(theirs)] == theirs


def _messages(request: Any) -> list[Any]:
    messages = as_object(request).get("messages")
    return messages if isinstance(messages, list) else []
