from typing import Any

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.wire.continuations import Continuation
from conformance.wire.text import content_text, quoted
from conformance.wire.views import continuations

_RETOLD = {"role": "assistant", "content": "Calling tools: [{'name': 'get_weather', 'arguments': {'city': 'Paris'}}]"}
_WITHOUT_CALLS = {
    "/2/request/messages/5/tool_calls": REMOVE,
    "/2/request/messages/5/reasoning_content": REMOVE,
    "/3": REMOVE,
}
_TEXT = {"/1/request/messages/1": _RETOLD, "/1/request/messages/2": {"role": "user", "content": "Observation: 18"}}


@rule(
    Level.MUST,
    on=continuations,
    where=lambda continuation, _context: any(reply.calls for reply in continuation.replies),
    source=Source(
        "schemas/canonical/transcript.json",
        "A reply whose tool calls were run stays in the list as a message with tool calls, never as text",
    ),
    bad=[
        example("stream-thinking-session", _TEXT),
        example(
            "stream-thinking-session",
            {
                "/1/request/messages/1": {"role": "user", "content": "get_weather says: 18"},
                "/1/request/messages/2": REMOVE,
            },
        ),
        example("thinking-session", {**_WITHOUT_CALLS, "/2/request/messages/6": REMOVE}),
    ],
    good=[
        example("stream-thinking-session"),
        example(
            "stream-thinking-session",
            {"/1/request/messages/1": {"role": "user", "content": "Never mind."}, "/1/request/messages/2": REMOVE},
        ),
        example(
            "thinking-session",
            {**_WITHOUT_CALLS, "/2/request/messages/6": {"role": "user", "content": "Stop; Oslo does not matter."}},
        ),
    ],
    wires=EVERY,
)
def judge(continuation: Continuation, _context: Context) -> list[Fault]:
    """A reply with tool calls is in the history if their results are sent or the loop goes on.

    Retold as text, sent back without its calls, or dropped, it leaves results without their call: the model learns to
    write calls as text, and the reasoning of the turn is lost. A call that nobody ran may be omitted: one that the user
    cancelled, if a user message follows, and one of a reply that was cut. To fix it, append the assistant message with
    its `tool_calls` as received, then one tool message per call.
    """
    if continuation.returned:
        return []
    messages = continuation.value["messages"]
    following, after = [*messages[continuation.end : continuation.end + 2], None, None][:2]
    if type(following) is not dict:
        return []
    names = ", ".join(dict.fromkeys([f"{call.name!r:.40}" for reply in continuation.replies for call in reply.calls]))
    text = quoted(content_text(following.get("content")))
    if _retells(following, continuation):
        got = text
    elif following.get("role") == "tool":
        got = f"a tool message, {text}, and no reply"
    elif _lacks_calls(following, after, continuation):
        got = "the reply without its calls"
    else:
        return []
    message = f"expected the reply with its calls ({names}) before their results, got {got}"
    return [Fault(message, at=("messages", continuation.end), values={"role": "assistant"})]


def _retells(message: dict[str, Any], continuation: Continuation) -> bool:
    """Return whether a message retells a call or its result as text."""
    if message.get("role") not in ("assistant", "user"):
        return False
    if message.get("tool_calls"):
        return continuation.is_unique
    text = content_text(message.get("content"))
    words = [word for reply in continuation.replies for call in reply.calls for word in (call.id, call.name)]
    return any(type(word) is str and len(word) > 3 and word in text for word in words)


def _lacks_calls(message: dict[str, Any], after: Any, continuation: Continuation) -> bool:
    """Return whether a message is the reply without its calls, and the loop goes on as if they had been run."""
    if message.get("role") != "assistant" or message.get("tool_calls"):
        return False
    role = after.get("role") if type(after) is dict else None
    if role not in (None, "assistant"):
        return bool(role == "tool")
    text = content_text(message.get("content")).strip()
    whole = [reply for reply in continuation.replies if reply.complete and reply.finish_reason != "length"]
    return text in [content_text(reply.message.get("content")).strip() for reply in whole if reply.calls]
