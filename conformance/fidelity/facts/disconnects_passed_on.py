"""Fact: a client that leaves ends the request behind the gateway."""

from collections.abc import Iterator

from conformance.fidelity import REPLIES, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import seen
from conformance.fidelity.passages import Passage


@fact(
    Level.MUST,
    element="client that leaves",
    on=seen("disconnects-passed-on"),
    of=REPLIES,
    source=Source("https://html.spec.whatwg.org/multipage/server-sent-events.html"),
    bad=[example("stream", {"/0/seen/disconnects-passed-on": False})],
    good=[example("stream")],
)
def judge(is_so: bool, passage: Passage) -> Iterator[PassageLoss]:  # noqa: FBT001 — the element of the view
    """A client that leaves ends the request behind the gateway.

    The provider writes, and the user pays, to the end otherwise. To fix it, close the request to the provider when the
    client has gone.
    """
    if not is_so:
        at, became = passage.pointer_before("/response"), passage.pointer_after("/response")
        yield PassageLoss(
            "expected that the provider is let go when the client leaves, got a request that stays open", at, became
        )
