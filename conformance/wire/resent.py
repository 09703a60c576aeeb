"""Which messages of later requests carry which earlier replies back."""

from collections.abc import Sequence
from typing import Any

import orjson

from conformance.wire.elements import Call, Reply, Resent, calls_of
from conformance.wire.exchange import Conversation


def match(conversation: Conversation, replies: Sequence[Reply]) -> list[Resent]:
    """Pair each reply with the messages of later requests that carry it back.

    A reply to a request that held n assistant messages comes back as the one at position n; clients that merge or
    drop turns are met by looking for the same words and calls among the others. A message carries one reply back:
    recordings that ask the same several times hold replies which are hard to tell apart.
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
                part = Resent((later, "request", "messages", position), value, reply, current)
                rival = resent.get((later, position))
                # The first of its kind is not weighed: hardly any message has a rival.
                if rival is None or _likeness(part) >= _likeness(rival):
                    resent[later, position] = part
    order = {id(reply): number for number, reply in enumerate(replies)}
    return sorted(resent.values(), key=lambda part: (order[id(part.reply)], part.place[0]))


def _likeness(part: Resent) -> tuple[bool, ...]:
    """Say in what a message is like a reply, what tells more first."""
    value, message = part.value, part.reply.message
    listed = value.get("tool_calls")
    calls = calls_of(listed, (), None) if type(listed) is list else []
    given = part.reply.calls
    return (
        [call.id for call in calls] == [call.id for call in given],
        [call.arguments for call in calls] == [call.arguments for call in given],
        said(value.get("content")).strip() == said(message.get("content")).strip(),
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
    """Return the assistant message that carries a reply back; `others` are the ids that only other replies gave."""
    if expected < len(assistants) and _carries(reply, assistants[expected][1], others, near=True):
        return assistants[expected]
    return next((found for found in assistants if _carries(reply, found[1], others, near=False)), None)


def _carries(reply: Reply, value: dict[str, Any], others: set[str], *, near: bool) -> bool:
    """Say whether a message says and calls what a reply said and called; reasoning is not looked at.

    Where the reply is expected (`near`) the id of one call is enough; elsewhere all calls have to be the same, as ids
    may come again. A message whose ids all come from other replies is one of those.
    """
    listed = value.get("tool_calls")
    calls = calls_of(listed, (), None) if type(listed) is list else []
    if not calls or not reply.calls:
        words = said(reply.message.get("content")).strip()
        return not calls and not reply.calls and bool(words) and said(value.get("content")).strip() == words
    own = {call.id for call in reply.calls if type(call.id) is str and call.id and call.id not in others}
    shared = own.intersection([back.id for back in calls if type(back.id) is str])
    if shared and (near or len(shared) == len(calls) == len(reply.calls)):
        return True
    if len(calls) != len(reply.calls) or any([back.name != call.name for back, call in _pairs(calls, reply)]):
        return False
    if near and any([back.id == call.id for back, call in _pairs(calls, reply)]):
        return True
    foreign = all([type(back.id) is str and back.id in others for back in calls])
    return not foreign and all([same_arguments(back.arguments, call.arguments) for back, call in _pairs(calls, reply)])


def _pairs(calls: list[Call], reply: Reply) -> list[tuple[Call, Call]]:
    return list(zip(calls, reply.calls, strict=False))


def same_arguments(back: Any, given: Any) -> bool:
    """Compare arguments as text, then as what the text says, as clients parse and write them anew."""
    if back == given:
        return True
    try:
        return bool(orjson.loads(back) == orjson.loads(given))
    except (orjson.JSONDecodeError, TypeError):
        return False


def said(content: Any) -> str:
    """Return the text of a content, that of its parts joined; empty where it has none."""
    if type(content) is list:
        parts = (part.get("text") for part in content if type(part) is dict)
        return "".join(part for part in parts if type(part) is str)
    return content if type(content) is str else ""
