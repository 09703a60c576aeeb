"""Fact: the switch that forbids parallel calls arrives."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.fidelity import REMOVE, REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import can_hold
from conformance.fidelity.passages import Passage

_NAME: Final = "parallel switch"


def _switch(body: Mapping[str, Any]) -> bool:
    return body.get("parallel_tool_calls") is False


def _switches(passage: Passage) -> Sequence[bool]:
    return [True] if _switch(passage.before.body) and can_hold(passage, _switch, wanted=True) else []


@fact(
    Level.MUST,
    element="switch that forbids parallel calls",
    on=_switches,
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/guides/function-calling"),
    bad=[example("settings", {"/0/backs/0/request/parallel_tool_calls": REMOVE})],
    good=[example("settings")],
)
def judge(_element: bool, passage: Passage) -> Iterator[PassageLoss]:  # noqa: FBT001 — the element of the view
    """The switch that forbids parallel calls arrives.

    A client that runs one call at a time loses the others of a reply. To fix it, translate `parallel_tool_calls` and
    `disable_parallel_tool_use` into each other.
    """
    if not _switch(passage.after.body) and passage.after.body.get("tools"):
        text = "expected that parallel calls stay forbidden, got a request that allows them"
        yield PassageLoss(text, passage.at_setting(_NAME), passage.at_setting_after(_NAME))
