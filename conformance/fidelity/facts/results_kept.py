"""Fact: every result arrives word for word, with its own call."""

from collections.abc import Iterator

from conformance.fidelity import REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import kept
from conformance.fidelity.passages import Became, Passage, squeezed
from conformance.fidelity.spoken import Kind


@fact(
    Level.MUST,
    element="result",
    on=kept(Kind.RESULT),
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/guides/function-calling"),
    bad=[example("session", {"/1/backs/0/request/messages/2/content": "18"})],
    good=[example("session", {"/1/backs/0/request/messages/2/content": "Result: 18 degrees"})],
)
def judge(each: Became, passage: Passage) -> Iterator[PassageLoss]:
    """Every result arrives word for word, with its own call.

    A result with the call of another makes the model believe what is not so. To fix it, translate results by the ids of
    their calls, and each part of their content.
    """
    before, after = each.before, each.after
    if after is None or (before.value and squeezed(before.value) not in squeezed(after.value)):
        text = f"expected the result {before.value!r:.60}, got {None if after is None else after.value!r:.60}"
        became = passage.at_loss(before) if after is None else passage.at_after(after)
        yield PassageLoss(text, passage.at(before), became)
        return
    if passage.repeated(before) > 1:
        yield PassageLoss("expected the result once, got it again", passage.at(before), passage.at_after(after))
        return
    if before.value and before.value not in after.value:
        text = "expected the result as it was, got other white space"
        yield PassageLoss(text, passage.at(before), passage.at_after(after), Level.SHOULD)
    calls = {call.before.id: call.after for call in passage.became(Kind.CALL)}
    own = calls.get(before.id)
    if own is not None and after.id != own.id and own.id is not None:
        text = f"expected the result of the call {own.id!r}, got it as that of {after.id!r}"
        yield PassageLoss(text, passage.at(before), passage.at_after(after))
