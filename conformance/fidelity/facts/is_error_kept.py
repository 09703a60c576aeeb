"""Fact: a result that says that its tool failed still says so."""

from collections.abc import Iterator, Sequence

from conformance.fidelity import REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import kept
from conformance.fidelity.passages import Became, Passage
from conformance.fidelity.spoken import Kind

_HOLDING = ("messages",)
"""The wires whose results have a flag for failure."""


def _failed(passage: Passage) -> Sequence[Became]:
    found = [each for each in kept(Kind.RESULT)(passage) if each.after is not None]
    return [each for each in found if each.before.failed or (each.after is not None and each.after.failed)]


@fact(
    Level.MUST,
    element="result of a tool that failed",
    on=_failed,
    of=REQUESTS,
    source=Source("https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls"),
    bad=[example("session", {"/1/backs/0/request/messages/3/content": "There is no such city."})],
    good=[example("session", {"/1/backs/0/request/messages/3/content": '{"error": "There is no such city."}'})],
)
def judge(each: Became, passage: Passage) -> Iterator[PassageLoss]:
    """A result that says that its tool failed still says so, and no other one does.

    A model takes an error for an answer otherwise, or an answer for an error. To fix it, keep `is_error`; on a wire
    without such a flag, say it in the text, which is a SHOULD.
    """
    before, after = each.before, each.after
    if after is None or after.failed:
        if after is not None and not before.failed:
            text = "expected a result, got one that says that its tool failed"
            yield PassageLoss(text, passage.at(before), passage.at_after(after))
        return
    says_so = "error" in after.value.lower() and "error" not in before.value.lower()
    if not says_so:
        level = None if passage.after.exchange.protocol in _HOLDING else Level.SHOULD
        text = "expected a result that says that its tool failed, got one that does not"
        yield PassageLoss(text, passage.at(before), passage.at_after(after), level)
