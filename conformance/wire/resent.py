"""Which messages of later requests carry which earlier replies back."""

from collections.abc import Sequence
from typing import Any

import orjson

from conformance.wire.exchange import Conversation
from conformance.wire.parts import Reply, Resent, calls_of


def match(conversation: Conversation, replies: Sequence[Reply]) -> list[Resent]:
    """Pair each reply with the messages of later requests that carry it back.

    A reply to a request that held n assistant messages comes back as the one at position n; clients that merge or
    drop turns are met by looking for the same words and calls among the others.
    """
    resent: list[Resent] = []
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
                resent.append(Resent((later, "request", "messages", position), value, reply, current))
    return resent


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
    """Return the assistant message that carries a reply back; `others` are the ids that only other replies gave."""
    if expected < len(assistants) and _carries(reply, assistants[expected][1], others, near=True):
        return assistants[expected]
    return next((found for found in assistants if _carries(reply, found[1], others, near=False)), None)


def _carries(reply: Reply, value: dict[str, Any], others: set[str], *, near: bool) -> bool:
    """Say whether a message says and calls what a reply said and called; reasoning is not looked at.

    Where the reply is expected (`near`) the id of one call is enough; elsewhere the arguments have to be the same,
    as ids may come again. A message whose ids all come from other replies is one of those.
    """
    listed = value.get("tool_calls")
    calls = calls_of(listed, (), None) if type(listed) is list else []
    pairs = list(zip(calls, reply.calls, strict=False))
    if len(calls) != len(reply.calls) or any([back.name != call.name for back, call in pairs]):
        return False
    if not calls:
        said = _text(reply.message.get("content"))
        return bool(said) and _text(value.get("content")) == said
    if near and any([back.id == call.id for back, call in pairs]):
        return True
    foreign = all([type(back.id) is str and back.id in others for back, _ in pairs])
    return not foreign and all([_same_arguments(back.arguments, call.arguments) for back, call in pairs])


def _same_arguments(back: Any, given: Any) -> bool:
    """Compare arguments as text, then as what the text says, as clients parse and write them anew."""
    if back == given:
        return True
    try:
        return bool(orjson.loads(back) == orjson.loads(given))
    except (orjson.JSONDecodeError, TypeError):
        return False


def _text(content: Any) -> str:
    if type(content) is list:
        parts = (part.get("text") for part in content if type(part) is dict)
        return "".join(part for part in parts if type(part) is str).strip()
    return content.strip() if type(content) is str else ""
