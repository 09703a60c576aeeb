"""Fact: a later prompt is sent with the history of the earlier ones."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.adapters.loop import ClientSession, Fault, Level, Source, fact
from conformance.adapters.loop._session import SessionRequest
from conformance.adapters.loop._views import later_requests
from conformance.scenarios import ScriptTurn
from conformance.wire.elements import Reply
from conformance.wire.text import content_text


@fact(
    Level.MUST,
    on=later_requests,
    source=Source("https://platform.openai.com/docs/guides/conversation-state?api-mode=chat"),
)
def judge(request: SessionRequest, session: ClientSession) -> Iterator[Fault]:
    """Each later prompt is sent with the history of the earlier ones.

    The API keeps nothing between requests: the model knows only what a request contains. A loop that keeps only the
    last answer, or nothing at all, loses what its tools found out. To fix it, append every message to one list and
    send the whole list.
    """
    messages = [each for each in session.conversation[request.number].request["messages"] if isinstance(each, dict)]
    prompt = next(prompt.number for prompt in session.prompts if request.number in prompt.requests)
    replies = {session.requests[int(reply.place[0])].turn: reply for reply in session.index.replies}
    for number in _turns_before(session.scenario.turns, prompt):
        missing = _missing(session.scenario.turns[number], replies.get(number), messages)
        if missing:
            yield Fault(
                f"expected the history to include {missing}, got it without", place=(*request.place, "messages")
            )
            return


def _turns_before(turns: Sequence[ScriptTurn], prompt: int) -> Iterator[int]:
    """Yield the numbers of the turns of the prompts before one; prompts count from 0."""
    current = -1
    for number, turn in enumerate(turns):
        current += turn.user is not None
        if current < prompt:
            yield number


def _missing(turn: ScriptTurn, reply: Reply | None, messages: Sequence[Mapping[str, Any]]) -> str:
    """Return what the messages lack of a turn; roles are ignored, since some clients rewrite calls as text."""
    texts = [content_text(message.get("content")) for message in messages]
    replied = content_text(reply.message.get("content")) if reply is not None else ""
    for text in (turn.user, turn.says if turn.says in replied else ""):
        if text and not any(text.strip() in sent for sent in texts):
            return f"{text.strip()!r:.80}"
    calls = [call.get("function", {}) for message in messages for call in message.get("tool_calls") or ()]
    for call in reply.calls if reply is not None else ():
        is_sent = any(sent.get("name") == call.name for sent in calls)
        if not is_sent and not any(str(call.name) in text for text in texts):
            return f"the call of {call.name!r:.60}"
    return ""
