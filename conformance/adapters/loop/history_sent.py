"""Fact: a later prompt comes with the history of those before it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.adapters.loop import Fault, Level, Played, Source, fact
from conformance.adapters.loop._session import Asked
from conformance.adapters.loop._views import continued
from conformance.scenarios import Turn
from conformance.wire.elements import Reply
from conformance.wire.text import content_text


@fact(
    Level.MUST, on=continued, source=Source("https://platform.openai.com/docs/guides/conversation-state?api-mode=chat")
)
def judge(part: Asked, played: Played) -> Iterator[Fault]:
    """A later prompt comes with the history of those before it.

    The wire keeps nothing between requests: what a loop leaves out, the model never knew. A loop that keeps only the
    last answer, or nothing at all, forgets what its tools found out. To fix it, append to one list and send all of it.
    """
    messages = [each for each in played.conversation[part.number].request["messages"] if isinstance(each, dict)]
    own = next(each.number for each in played.prompts if part.number in each.asked)
    replies = {played.asked[int(reply.place[0])].turn: reply for reply in played.index.replies}
    for number in _before(played.scenario.turns, own):
        lost = _lost(played.scenario.turns[number], replies.get(number), messages)
        if lost:
            yield Fault(f"expected the history with {lost}, got it without", place=(*part.place, "messages"))
            return


def _before(turns: Sequence[Turn], prompt: int) -> Iterator[int]:
    """Yield the numbers of the turns of the prompts before one; prompts are counted from 0."""
    asked = -1
    for number, turn in enumerate(turns):
        asked += turn.user is not None
        if asked < prompt:
            yield number


def _lost(turn: Turn, reply: Reply | None, messages: Sequence[Mapping[str, Any]]) -> str:
    """Return in words what is not there of a turn; roles do not count, since some clients retell calls as text."""
    texts = [content_text(message.get("content")) for message in messages]
    given = content_text(reply.message.get("content")) if reply is not None else ""
    for words in (turn.user, turn.says if turn.says in given else ""):
        if words and not any(words.strip() in text for text in texts):
            return f"{words.strip()!r:.80}"
    sent = [call.get("function", {}) for message in messages for call in message.get("tool_calls") or ()]
    for call in reply.calls if reply is not None else ():
        if not any(each.get("name") == call.name for each in sent) and not any(str(call.name) in t for t in texts):
            return f"the call of {call.name!r:.60}"
    return ""
