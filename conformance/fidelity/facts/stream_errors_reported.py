"""Fact: an error inside a stream reaches the client as an error."""

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.fidelity import REMOVE, REPLIES, Level, PassageLoss, Source, example, fact
from conformance.fidelity.passages import Passage

_END: Final = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def _failed(passage: Passage) -> Sequence[Passage]:
    return [passage] if passage.before.error_in_stream else []


@fact(
    Level.MUST,
    element="error inside a stream",
    on=_failed,
    of=REPLIES,
    source=Source("https://openrouter.ai/docs/api_reference/streaming"),
    bad=[example("failed-stream", {"/0/front/response/1": _END})],
    good=[example("failed-stream", {"/0/front/response/1": REMOVE})],
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """An error inside a stream reaches the client as an error.

    A stream that ends as if nothing had happened makes half a reply an answer. To fix it, send the event that the
    client's wire has for errors, or break the connection.
    """
    after = passage.after
    if after.is_refused or after.error_in_stream or after.is_cut:
        return
    at = passage.pointer_before(passage.before.pointer(passage.before.error_place))
    became = passage.pointer_after(passage.after.pointer(passage.after.finish_place))
    text = f"expected an error, got a reply that ends with {after.finish_reason!r}"
    yield PassageLoss(text, at, became)
