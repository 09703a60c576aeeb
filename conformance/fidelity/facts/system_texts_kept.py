"""Fact: every instruction arrives as one."""

from collections.abc import Iterator

from conformance.fidelity import REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import kept
from conformance.fidelity.passages import Became, Passage
from conformance.fidelity.spoken import Kind


@fact(
    Level.MUST,
    element="system text",
    on=kept(Kind.SYSTEM),
    of=REQUESTS,
    source=Source("https://platform.claude.com/docs/en/api/messages"),
    bad=[example("settings", {"/0/backs/0/request/messages/0/content": "Answer."})],
    good=[example("settings", {"/0/backs/0/request/messages/0/role": "developer"})],
)
def judge(each: Became, passage: Passage) -> Iterator[PassageLoss]:
    """Every instruction arrives as one, wherever it stands in the conversation.

    Instructions that come later, or as several blocks, are easily overwritten by the first. To fix it, join what the
    other wire holds in one place. An instruction that becomes the user's loses its authority, which is a SHOULD.
    """
    if each.after is None:
        text = f"expected the instruction {each.before.value!r:.80}, got none like it"
        yield PassageLoss(text, passage.at(each.before), passage.at_loss(each.before))
    elif each.moved:
        text = f"expected an instruction, got a {each.after.kind}"
        yield PassageLoss(text, passage.at(each.before), passage.at_after(each.after), Level.SHOULD)
