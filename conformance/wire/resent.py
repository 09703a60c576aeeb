"""Which messages of later requests send which earlier replies back."""

from collections.abc import Sequence
from typing import Any

import orjson

from conformance.wire.elements import Call, Reply, Resent, calls_of
from conformance.wire.exchange import Conversation
from conformance.wire.text import content_text


def find_resent(conversation: Conversation, replies: Sequence[Reply]) -> list[Resent]:
    """Pair each reply with the messages of later requests that send it back.

    The reply to a request with n assistant messages comes back as assistant message n. For clients that merge or drop
    turns, the other assistant messages are searched for the same text and calls. A message sends back one reply only:
    recordings that repeat a request hold replies that are hard to distinguish.
    """
    resent: dict[tuple[int, int], Resent] = {}
    assistants = [_assistants(exchange.request) for exchange in conversation]
    issued: dict[str, set[int]] = {}
    for number, reply in enumerate(replies):
        for call in reply.calls:
            if type(call.id) is str:
                issued.setdefault(call.id, set()).add(number)
    for number, reply in enumerate(replies):
        asked = int(reply.place[0])
        expected = len(assistants[asked])
        others = {identity for identity, owners in issued.items() if number not in owners}
        for later in range(asked + 1, len(conversation)):
            found = _find(reply, assistants[later], expected, others)
            if found is not None:
                position, value = found
                messages = conversation[later].request["messages"]
                current = position > last_user(messages)
                candidate = Resent((later, "request", "messages", position), value, reply, current)
                rival = resent.get((later, position))
                # Similarity is computed only if there is a rival, which is rare.
                if rival is None or _similarity(candidate) >= _similarity(rival):
                    resent[later, position] = candidate
    order = {id(reply): number for number, reply in enumerate(replies)}
    return sorted(resent.values(), key=lambda found: (order[id(found.reply)], found.place[0]))


def _similarity(resent: Resent) -> tuple[bool, ...]:
    """Return in which respects a message equals a reply, the most significant first."""
    value, message = resent.value, resent.reply.message
    calls, given = calls_in(value), resent.reply.calls
    return (
        [call.id for call in calls] == [call.id for call in given],
        [call.arguments for call in calls] == [call.arguments for call in given],
        content_text(value.get("content")).strip() == content_text(message.get("content")).strip(),
        all(value.get(key) == message[key] for key in message if key not in ("role", "content", "tool_calls")),
    )


def last_user(messages: list[Any]) -> int:
    """Return the position of the last user message, or -1."""
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if type(message) is dict and message.get("role") == "user":
            return position
    return -1


def _assistants(body: Any) -> list[tuple[int, dict[str, Any]]]:
    """Return the assistant messages of a request, each with its position."""
    messages = body.get("messages") if type(body) is dict else None
    return [
        (position, message)
        for position, message in enumerate(messages if type(messages) is list else ())
        if type(message) is dict and message.get("role") == "assistant"
    ]


def _find(
    reply: Reply, assistants: list[tuple[int, dict[str, Any]]], expected: int, others: set[str]
) -> tuple[int, dict[str, Any]] | None:
    """Return the assistant message that sends a reply back; `others` are the ids that only other replies have."""
    if expected < len(assistants) and _sends_back(reply, assistants[expected][1], others, near=True):
        return assistants[expected]
    return next((found for found in assistants if _sends_back(reply, found[1], others, near=False)), None)


def _sends_back(reply: Reply, value: dict[str, Any], others: set[str], *, near: bool) -> bool:
    """Return whether a message has the text and the calls of a reply; reasoning is ignored.

    At the expected position (`near`) the id of one call is enough; elsewhere all calls must be the same, because ids
    may repeat. A message whose ids all come from other replies belongs to one of those.
    """
    calls = calls_in(value)
    if not calls or not reply.calls:
        text = content_text(reply.message.get("content")).strip()
        return not calls and not reply.calls and bool(text) and content_text(value.get("content")).strip() == text
    own_ids = {call.id for call in reply.calls if type(call.id) is str and call.id and call.id not in others}
    same_ids = own_ids.intersection([back.id for back in calls if type(back.id) is str])
    if same_ids and (near or len(same_ids) == len(calls) == len(reply.calls)):
        return True
    if len(calls) != len(reply.calls) or any([back.name != call.name for back, call in _pairs(calls, reply)]):
        return False
    if near and any([back.id == call.id for back, call in _pairs(calls, reply)]):
        return True
    foreign = all([type(back.id) is str and back.id in others for back in calls])
    return not foreign and all([same_arguments(back.arguments, call.arguments) for back, call in _pairs(calls, reply)])


def calls_in(message: dict[str, Any]) -> list[Call]:
    """Return the tool calls of a message that is sent, without their places."""
    tool_calls = message.get("tool_calls")
    return calls_of(tool_calls, (), None) if type(tool_calls) is list else []


def _pairs(calls: list[Call], reply: Reply) -> list[tuple[Call, Call]]:
    return list(zip(calls, reply.calls, strict=False))


def same_arguments(back: Any, given: Any) -> bool:
    """Return whether arguments are equal as text or as JSON, because clients parse and render them again."""
    if back == given:
        return True
    try:
        return bool(orjson.loads(back) == orjson.loads(given))
    except (orjson.JSONDecodeError, TypeError):
        return False
