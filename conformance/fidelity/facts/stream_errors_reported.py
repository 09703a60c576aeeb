"""Fact: an error inside a stream reaches the client as an error."""

from collections.abc import Iterator, Sequence

from conformance.fidelity import REPLIES, Level, PassageLoss, Source, fact
from conformance.fidelity.passages import Passage


def _failed(passage: Passage) -> Sequence[Passage]:
    return [passage] if passage.before.error_in_stream else []


@fact(
    Level.MUST,
    element="error inside a stream",
    on=_failed,
    of=REPLIES,
    source=Source("https://openrouter.ai/docs/api_reference/streaming"),
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """An error inside a stream reaches the client as an error.

    A stream that ends as if nothing had happened makes half a reply an answer. To fix it, send the event that the
    client's wire has for errors, or break the connection.
    """
    after = passage.after
    if after.is_refused or after.error_in_stream or after.is_cut:
        return
    at, became = passage.pointer_before("/response"), passage.pointer_after("/response")
    text = f"expected an error, got a reply that ends with {after.finish_reason!r}"
    yield PassageLoss(text, at, became)
