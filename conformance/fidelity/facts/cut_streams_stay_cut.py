"""Fact: a stream that breaks off does not become a finished answer."""

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.fidelity import REPLIES, Level, PassageLoss, Source, example, fact
from conformance.fidelity.passages import Passage

_END: Final = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def _cut(passage: Passage) -> Sequence[Passage]:
    before = passage.before
    return [passage] if before.is_reply and before.is_cut and not before.error_in_stream else []


@fact(
    Level.MUST,
    element="stream that breaks off",
    on=_cut,
    of=REPLIES,
    source=Source("https://github.com/anomalyco/opencode/issues/39968"),
    bad=[example("cut-stream", {"/0/front/response/-": _END})],
    good=[example("cut-stream")],
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """A stream that breaks off does not become a finished answer.

    A client runs half a call, or takes half a text for the whole. To fix it, end the stream with an error, or break the
    connection; do not write the events of an end that did not come.
    """
    after = passage.after
    if after.is_refused or after.error_in_stream or after.is_cut:
        return
    at, became = passage.pointer_before("/response"), passage.pointer_after(after.pointer(after.finish_place))
    yield PassageLoss(f"expected a stream that breaks off, got one that ends with {after.finish_reason!r}", at, became)
