"""Fact: the deltas of a stream arrive as they come."""

from collections.abc import Iterator

from conformance.fidelity import REPLIES, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import seen
from conformance.fidelity.passages import Passage


@fact(
    Level.MUST,
    element="stream whose provider waits",
    on=seen("deltas-in-time"),
    of=REPLIES,
    source=Source("https://html.spec.whatwg.org/multipage/server-sent-events.html"),
    bad=[example("stream", {"/0/seen/deltas-in-time": False})],
    good=[example("stream")],
)
def judge(is_so: bool, passage: Passage) -> Iterator[PassageLoss]:  # noqa: FBT001 — the element of the view
    """The deltas of a stream arrive as they come.

    A user who waits for the end has no use for a stream. To fix it, pass each event on at once, without a buffer and
    without compression.
    """
    if not is_so:
        at, became = passage.pointer_before("/response"), passage.pointer_after("/response")
        yield PassageLoss("expected the first delta while the provider waits, got it only after the end", at, became)
