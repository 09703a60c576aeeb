"""Fact: a truncated reply, or one with an error, is not used as an answer."""

from collections.abc import Iterator

from conformance.adapters.loop import ClientSession, Fault, Level, Source, fact
from conformance.adapters.loop._session import Prompt
from conformance.adapters.loop._views import IncompleteReply, incomplete_replies
from conformance.documents.pointer import Place

_IN_HISTORY = "expected the truncated reply to be dropped or requested again, got it in the history"


@fact(
    Level.MUST,
    on=incomplete_replies,
    source=Source("https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream"),
)
def judge(reply: IncompleteReply, session: ClientSession) -> Iterator[Fault]:
    """A truncated reply, or one that contains an error, is not used as an answer.

    A finish reason marks a stream as complete. Without it, a call would run with half its arguments, and half a
    sentence would be shown as the answer. Sending the request again is fine, with a note to the model or without, and
    so are raising an error and a result that says itself that it was interrupted. To fix it, raise an error, before any
    call runs, if a stream ends without a finish reason or if an event or body has an `error`.
    """
    if _was_retried(reply, session):
        return
    prompt, texts = reply.prompt, session.answer.texts or ()
    is_marked = prompt is not None and session.answer.marks_interrupted(prompt.number)
    for resent in session.index.resent:
        if int(resent.reply.place[0]) == reply.number and session.is_incomplete(resent.reply):
            # Behind the end of the prompt, whoever goes on with the history knows that it was interrupted.
            if not is_marked or _is_of(prompt, resent.place):
                yield Fault(_IN_HISTORY, place=resent.place)
            break
    if prompt is None or is_marked or prompt.number >= len(texts):
        return
    text = texts[prompt.number]
    got = "an answer without text" if text is None else f"{text[-200:]!r} as its answer"
    yield Fault(f"expected prompt {prompt.number + 1} to end with an error or to be sent again, got {got}")


def _is_of(prompt: Prompt | None, place: Place) -> bool:
    """Return whether a place is in a request of a prompt."""
    return prompt is not None and int(place[0]) in prompt.requests


def _was_retried(reply: IncompleteReply, session: ClientSession) -> bool:
    """Return whether the same turn was requested again and answered completely."""
    turn = session.requests[reply.number].turn
    later = session.requests[reply.number + 1 :]
    return any(request.turn == turn and request.number not in session.incomplete for request in later)
