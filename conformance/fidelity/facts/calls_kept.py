"""Fact: every call arrives once, with the name of its tool."""

from collections.abc import Iterator, Sequence

from conformance.fidelity import BOTH, REMOVE, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import whole
from conformance.fidelity.passages import Became, Passage
from conformance.fidelity.spoken import Kind


def _turns(passage: Passage) -> Sequence[Passage]:
    return [each for each in whole(passage) if each.before.of(Kind.CALL)]


@fact(
    Level.MUST,
    element="call",
    on=_turns,
    of=BOTH,
    source=Source("https://platform.openai.com/docs/guides/function-calling"),
    bad=[
        example("session", {"/0/front/response/content/3": REMOVE}),
        example("session", {"/0/front/response/content/3/name": "functions.get_weather"}),
    ],
    good=[example("session")],
    echoed=True,
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """Every call arrives once, with the name of its tool, in replies and in the history.

    A call that is lost is never run; one that comes twice is run twice. To fix it, translate each call of a turn, and
    each call of a stream by its index.
    """
    found: list[Became] = passage.became(Kind.CALL)
    for each in found:
        if each.after is None:
            text = f"expected the call of {each.before.name}, got none like it"
            yield PassageLoss(text, passage.at(each.before), passage.at_loss(each.before))
        elif each.after.name != each.before.name:
            text = f"expected the call of {each.before.name}, got one of {each.after.name}"
            yield PassageLoss(text, passage.at(each.before), passage.at_after(each.after))
    taken = [each.after for each in found if each.after is not None]
    further = [each for each in passage.after.of(Kind.CALL) if each not in taken]
    if passage.is_reply or passage.is_request:
        for call in further:
            text = f"expected the calls that were made, got another one of {call.name}"
            yield PassageLoss(text, passage.at(found[0].before), passage.at_after(call))
