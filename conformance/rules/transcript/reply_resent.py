from typing import Any

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.continuations import Continuation
from conformance.wire.text import content_text
from conformance.wire.views import continuations

_RETOLD = {"role": "assistant", "content": "Calling tools: [{'name': 'get_weather', 'arguments': {'city': 'Paris'}}]"}
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
    ],
    good=[
        example("stream-thinking-session"),
        example(
            "stream-thinking-session",
            {"/1/request/messages/1": {"role": "user", "content": "Never mind."}, "/1/request/messages/2": REMOVE},
        ),
    ],
)
def judge(continuation: Continuation, _context: Context) -> list[Fault]:
    """A reply with tool calls is in the history if their results are sent.

    Retold as text, or dropped, it leaves results without their call: the model learns to write calls as text, and the
    reasoning of the turn is lost. A call that nobody ran may be omitted. To fix it, append the assistant message with
    its `tool_calls` as received, then one tool message per call.
    """
    if continuation.returned:
        return []
    messages = continuation.value["messages"]
    following = messages[continuation.end : continuation.end + 1]
    if not following or not _retells(following[0], continuation):
        return []
    names = ", ".join(dict.fromkeys([f"{call.name!r:.40}" for reply in continuation.replies for call in reply.calls]))
    got = f"{content_text(following[0].get('content'))!r:.40}" if type(following[0]) is dict else "no message"
    message = f"expected the reply with its calls ({names}) before their results, got {got}"
    return [Fault(message, at=("messages", continuation.end), values={"role": "assistant"})]


def _retells(message: Any, continuation: Continuation) -> bool:
    """Return whether a message retells a call or its result as text."""
    if type(message) is not dict or message.get("role") not in ("assistant", "user"):
        return False
    if message.get("tool_calls"):
        return continuation.is_unique
    text = content_text(message.get("content"))
    words = [word for reply in continuation.replies for call in reply.calls for word in (call.id, call.name)]
    return any(type(word) is str and len(word) > 3 and word in text for word in words)
