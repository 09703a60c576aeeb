"""Fact: every text of the user arrives word for word."""

from collections.abc import Iterator

from conformance.fidelity import REQUESTS, Level, Loss, Source, fact
from conformance.fidelity.facts._views import kept
from conformance.fidelity.passages import Kept, Passage
from conformance.fidelity.spoken import Kind


@fact(
    Level.MUST,
    element="text of the user",
    on=kept(Kind.USER),
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
)
def judge(each: Kept, passage: Passage) -> Iterator[Loss]:
    """Every text of the user arrives word for word.

    To fix it, translate each part of a content, also beside results and images. A change of white space alone is a
    SHOULD.
    """
    if each.after is None:
        text = f"expected the text {each.before.value!r:.80}, got none like it"
        yield Loss(text, passage.at(each.before), passage.at_after(None))
    elif each.moved:
        text = f"expected a text of the user, got a {each.after.kind}"
        yield Loss(text, passage.at(each.before), passage.at_after(each.after), Level.SHOULD)
    elif each.spaced:
        text = "expected the text as it was, got other white space"
        yield Loss(text, passage.at(each.before), passage.at_after(each.after), Level.SHOULD)
