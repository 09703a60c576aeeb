"""Fact: a demand to think, and how much, arrives."""

from collections.abc import Iterator, Sequence
from typing import Any

from conformance.fidelity import REMOVE, REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import setting
from conformance.fidelity.passages import Passage


def _demands(passage: Passage) -> Sequence[tuple[Any, str]]:
    return [each for each in setting("effort")(passage) if each[0] not in ("none", "disabled", False, 0)]


@fact(
    Level.MUST,
    element="demand to think",
    on=_demands,
    of=REQUESTS,
    source=Source("https://platform.claude.com/docs/en/build-with-claude/thinking"),
    bad=[example("session", {"/0/backs/0/request/reasoning_effort": REMOVE})],
    good=[example("session", {"/0/backs/0/request/reasoning_effort": "high"})],
)
def judge(given: tuple[Any, str], passage: Passage) -> Iterator[PassageLoss]:
    """A demand to think, and how much, arrives in the words of the provider.

    To fix it, translate efforts and budgets into each other. Any switch or effort counts: hosts have different scales.
    """
    value, pointer = given
    if passage.after.setting("effort") is None:
        text = f"expected the effort {value!r}, got no word of it"
        yield PassageLoss(text, passage.pointer_before(pointer), passage.at_setting_after("effort"))
