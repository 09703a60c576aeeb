"""Fact: what the model says arrives word for word, once."""

from collections.abc import Iterator

from conformance.fidelity import BOTH, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import kept
from conformance.fidelity.passages import Became, Passage, squeezed
from conformance.fidelity.spoken import Kind


@fact(
    Level.MUST,
    element="text of the model",
    on=kept(Kind.ANSWER),
    of=BOTH,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("session", {"/0/front/response/content/1/text": "I look."})],
    good=[example("session", {"/1/backs/0/request/messages/1/content": "I look it up.\n"})],
    echoed=True,
)
def judge(each: Became, passage: Passage) -> Iterator[PassageLoss]:
    """What the model says arrives word for word, once, in replies and in the history.

    Texts before and between calls are lost most often. To fix it, translate every block of a reply, and every delta of
    a stream once.
    """
    before, after = each.before, each.after
    if after is None:
        yield PassageLoss(
            f"expected the text {before.value!r:.80}, got none like it", passage.at(before), passage.at_loss(before)
        )
        return
    at, became = passage.at(before), passage.at_after(after)
    if each.moved:
        yield PassageLoss(f"expected a text of the model, got a {after.kind}", at, became)
    elif passage.repeated(before) > 1:
        yield PassageLoss("expected the text once, got it again", at, became)
    elif passage.is_reply and squeezed(after.value) != squeezed(before.value):
        yield PassageLoss(f"expected only the text of the model, got {after.value!r:.120}", at, became, Level.SHOULD)
    elif each.spaced:
        yield PassageLoss("expected the text as it was, got other white space", at, became, Level.SHOULD)
