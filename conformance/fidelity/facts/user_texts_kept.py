"""Fact: every text of the user arrives word for word."""

from collections.abc import Iterator

from conformance.fidelity import REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import kept
from conformance.fidelity.passages import Became, Passage
from conformance.fidelity.spoken import Kind


@fact(
    Level.MUST,
    element="text of the user",
    on=kept(Kind.USER),
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("settings", {"/0/backs/0/request/messages/1/content/0/text": "Where?"})],
    good=[example("settings", {"/0/backs/0/request/messages/1/content/0/text": "Where is this? (an image follows)"})],
)
def judge(each: Became, passage: Passage) -> Iterator[PassageLoss]:
    """Every text of the user arrives word for word, as often as it was said.

    To fix it, translate each part of a content, also beside results and images. A change of white space alone is a
    SHOULD.
    """
    if each.after is None:
        text = f"expected the text {each.before.value!r:.80}, got none like it"
        yield PassageLoss(text, passage.at(each.before), passage.at_loss(each.before))
    elif each.moved:
        text = f"expected a text of the user, got a {each.after.kind}"
        yield PassageLoss(text, passage.at(each.before), passage.at_after(each.after), Level.SHOULD)
    elif (times := passage.repeated(each.before)) > 1:
        text = f"expected the text as often as it was said, got it {times} times as often"
        yield PassageLoss(text, passage.at(each.before), passage.at_after(each.after))
    elif each.spaced:
        text = "expected the text as it was, got other white space"
        yield PassageLoss(text, passage.at(each.before), passage.at_after(each.after), Level.SHOULD)
