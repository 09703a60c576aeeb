"""Fact: a reply that broke off or told of an error is not taken for an answer."""

from collections.abc import Iterator

from conformance.adapters.loop import Fault, Level, Played, Source, fact
from conformance.adapters.loop._views import Broken, broken

_HISTORY = "expected the reply that broke off to be dropped, or asked for again, got it in the history"


@fact(
    Level.MUST,
    on=broken,
    source=Source("https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream"),
)
def judge(part: Broken, played: Played) -> Iterator[Fault]:
    """No reply that broke off, or told of an error with status 200, is taken for an answer.

    A stream says by a finish reason that it is whole. Without one half a call would be run with half its arguments,
    and half a sentence be shown as the answer. To ask again is right, and so is an error. To fix it, raise an error
    where a stream ends without a finish reason or an event or body has an `error`, before any call is run.
    """
    for back in played.index.resent:
        if int(back.reply.place[0]) == part.number and played.is_broken(back.reply) and not _was_mended(part, played):
            yield Fault(_HISTORY, place=back.place)
            break
    prompt = part.prompt
    texts = played.answer.texts or ()
    if prompt is None or _was_mended(part, played) or prompt.number >= len(texts):
        return
    text = texts[prompt.number]
    said = "an answer without text" if text is None else f"{text[-200:]!r} as its answer"
    yield Fault(f"expected prompt {prompt.number + 1} to end with an error, or to be asked again, got {said}")


def _was_mended(part: Broken, played: Played) -> bool:
    """Say whether the same was asked again, and answered whole."""
    turn = played.asked[part.number].turn
    return any(each.turn == turn and each.number not in played.broken for each in played.asked[part.number + 1 :])
