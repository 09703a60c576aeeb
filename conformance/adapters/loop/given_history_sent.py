"""Fact: a history that the client begins with is sent with the first prompt."""

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.adapters.loop import ClientSession, Fault, Level, Source, fact
from conformance.adapters.loop._session import SessionRequest, contains
from conformance.adapters.loop._views import first_requests
from conformance.wire.text import content_text


@fact(
    Level.MUST,
    on=first_requests,
    source=Source(
        "https://developers.openai.com/api/docs/guides/conversation-state.md",
        "each text generation request is independent and stateless",
    ),
)
def judge(request: SessionRequest, session: ClientSession) -> Iterator[Fault]:
    """A history that the client begins with is sent with the first prompt.

    A session that is resumed, summarised or taken over from another provider is only what the next request says of it.
    The texts of users and models have to be in it, and so have the results of calls. Ids, reasoning, and calls without
    a result are the client's to adapt, and so is the role of a text. To fix it, translate each message of the history,
    and send all of them.
    """
    sent = [each for each in session.conversation[request.number].request["messages"] if isinstance(each, dict)]
    texts = [content_text(message.get("content")) for message in sent]
    for message in session.scenario.history:
        text = content_text(message.get("content")).strip()
        if text and not _is_orphan(message, session) and not any(contains(each, text) for each in texts):
            expected = f"expected the {message['role']} message {text!r:.80} of the given history"
            yield Fault(f"{expected}, got the request without it", place=(*request.place, "messages"))
            return


def _is_orphan(message: Mapping[str, Any], session: ClientSession) -> bool:
    """Return whether a result has no call in the history: no provider accepts it, so that clients leave it out."""
    calls = [call for each in session.scenario.history for call in each.get("tool_calls", ())]
    return message["role"] == "tool" and message.get("tool_call_id") not in [call["id"] for call in calls]
