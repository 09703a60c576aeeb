"""Fact: a reply without an error reaches the client without one."""

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.fidelity import REPLIES, Level, PassageLoss, Source, example, fact
from conformance.fidelity.passages import Passage

_ERROR: Final = {"type": "error", "error": {"type": "api_error", "message": "Bad gateway"}}


def _whole(passage: Passage) -> Sequence[Passage]:
    """Return the passage as its only element if the provider's reply is whole and has no error."""
    before = passage.before
    is_whole = passage.is_reply and not (before.is_refused or before.is_cut or before.error_in_stream)
    return [passage] if is_whole else []


@fact(
    Level.MUST,
    element="reply without an error",
    on=_whole,
    of=REPLIES,
    source=Source("https://platform.openai.com/docs/guides/error-codes"),
    bad=[example("session", {"/0/front/status": 502, "/0/front/response": _ERROR})],
    good=[example("session")],
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """A reply that the provider gives reaches the client, and not an error in its place.

    The provider has done the work and counts its tokens; the client sees a failure, and asks again. To fix it, find out
    what the gateway cannot do with the reply: its log often has the cause.
    """
    if passage.after.is_refused:
        text = f"expected the reply of the provider, got the status {passage.after.exchange.status}"
        yield PassageLoss(text, passage.pointer_before("/response"), passage.pointer_after("/response"))
