"""Fact: the calls of a turn stay in their order."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from conformance.fidelity import BOTH, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import whole
from conformance.fidelity.passages import Passage
from conformance.fidelity.spoken import Kind

_SEVERAL = 2

_PARIS: Final = {
    "id": "call_a",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
}
_ROME: Final = {
    "id": "call_b",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'},
}


def _turns(passage: Passage) -> Sequence[Passage]:
    return [each for each in whole(passage) if len(each.before.of(Kind.CALL)) >= _SEVERAL]


@fact(
    Level.MUST,
    element="turn with several calls",
    on=_turns,
    of=BOTH,
    source=Source("https://platform.openai.com/docs/guides/function-calling"),
    bad=[example("session", {"/1/backs/0/request/messages/1/tool_calls": [_ROME, _PARIS]})],
    good=[example("session")],
    echoed=True,
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """The calls of a turn stay in their order.

    Clients run calls in that order, and some providers pair results by position. To fix it, keep the order of the list,
    and that of the indexes of a stream.
    """
    taken = [each for each in passage.became(Kind.CALL) if each.after is not None]
    for one, other in pairwise(taken):
        first, second = one.after, other.after
        if first is None or second is None or first.turn > second.turn + 1:
            continue
        if (first.turn, str(first.place)) == (second.turn, str(second.place)):
            continue
        if _number(second.place) < _number(first.place):
            text = f"expected the call of {one.before.name} first, got that of {other.before.name}"
            yield PassageLoss(text, passage.at(one.before), passage.at_after(first))


def _number(place: Sequence[str | int]) -> tuple[int, ...]:
    return tuple([each for each in place if isinstance(each, int)])
