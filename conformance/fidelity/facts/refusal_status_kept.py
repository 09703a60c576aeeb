"""Fact: a refusal keeps its status."""

from collections.abc import Iterator

from conformance.fidelity import REPLIES, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._refusals import refused
from conformance.fidelity.passages import Passage


@fact(
    Level.MUST,
    element="refusal",
    on=refused,
    of=REPLIES,
    source=Source("https://platform.openai.com/docs/guides/error-codes"),
    bad=[example("refusal", {"/0/front/status": 500})],
    good=[example("refusal")],
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """A refusal keeps its status.

    Clients repeat a request after a 429 or a 5xx, and not after a 400. To fix it, pass the status on. Another one of
    the same class is a SHOULD.
    """
    wanted, got = passage.before.exchange.status or 0, passage.after.exchange.status or 0
    if wanted != got:
        level = Level.SHOULD if wanted // 100 == got // 100 and 429 not in (wanted, got) else None
        at, became = passage.pointer_before("/response"), passage.pointer_after("/response")
        yield PassageLoss(f"expected the status {wanted}, got {got}", at, became, level)
