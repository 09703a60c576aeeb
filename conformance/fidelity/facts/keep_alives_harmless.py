"""Fact: comments that keep a stream alive do no harm."""

from collections.abc import Iterator

from conformance.fidelity import REPLIES, Level, Loss, Source, fact
from conformance.fidelity.facts._views import seen
from conformance.fidelity.passages import Passage


@fact(
    Level.MUST,
    element="stream with keep-alives",
    on=seen("keep-alives-harmless"),
    of=REPLIES,
    source=Source("https://html.spec.whatwg.org/multipage/server-sent-events.html"),
)
def judge(is_so: bool, passage: Passage) -> Iterator[Loss]:  # noqa: FBT001 — the element of the view
    """Comments that keep a stream alive do no harm.

    Providers send them while a model thinks. To fix it, skip lines that begin with a colon.
    """
    if not is_so:
        at, became = passage.pointer_before("/response"), passage.pointer_after("/response")
        yield Loss("expected the whole reply of a stream with comments, got another one", at, became)
