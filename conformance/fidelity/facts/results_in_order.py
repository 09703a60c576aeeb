"""Fact: the results of a turn stay in their order."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from conformance.fidelity import REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import whole
from conformance.fidelity.passages import Passage
from conformance.fidelity.spoken import Kind

_SEVERAL = 2

_FIRST: Final = {"role": "tool", "tool_call_id": "call_a", "content": "18 degrees"}
_SECOND: Final = {"role": "tool", "tool_call_id": "call_b", "content": "Error: There is no such city."}


def _turns(passage: Passage) -> Sequence[Passage]:
    return [each for each in whole(passage) if len(each.before.of(Kind.RESULT)) >= _SEVERAL]


@fact(
    Level.MUST,
    element="turn with several results",
    on=_turns,
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/guides/function-calling"),
    bad=[example("session", {"/1/backs/0/request/messages/2": _SECOND, "/1/backs/0/request/messages/3": _FIRST})],
    good=[example("session")],
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """The results of a turn stay in their order.

    Some providers pair results with calls by position. To fix it, keep the order in which the client sends them.
    """
    taken = [each for each in passage.became(Kind.RESULT) if each.after is not None]
    for one, other in pairwise(taken):
        if one.after is not None and other.after is not None and other.after.turn < one.after.turn:
            text = f"expected the result {one.before.value!r:.40} first, got {other.before.value!r:.40}"
            yield PassageLoss(text, passage.at(one.before), passage.at_after(one.after))
