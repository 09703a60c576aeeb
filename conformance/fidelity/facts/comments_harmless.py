"""Fact: comments that keep a stream alive do no harm."""

from collections.abc import Iterator

from conformance.fidelity import REPLIES, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import seen
from conformance.fidelity.passages import Passage


@fact(
    Level.MUST,
    element="stream with comments",
    on=seen("comments-harmless"),
    of=REPLIES,
    source=Source("https://html.spec.whatwg.org/multipage/server-sent-events.html"),
    bad=[example("stream", {"/0/seen/comments-harmless": False})],
    good=[example("stream")],
)
def judge(is_so: bool, passage: Passage) -> Iterator[PassageLoss]:  # noqa: FBT001 — the element of the view
    """Comments that keep a stream alive do no harm.

    Providers send them while a model thinks. To fix it, skip lines that begin with a colon.
    """
    if not is_so:
        at, became = passage.pointer_before("/response"), passage.pointer_after("/response")
        yield PassageLoss("expected the whole reply of a stream with comments, got another one", at, became)
