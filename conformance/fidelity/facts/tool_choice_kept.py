"""Fact: the demand for a call, for a certain one or for none arrives."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.fidelity import REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import can_hold
from conformance.fidelity.passages import Passage
from conformance.wire.tool_choice import NamedChoice, limited_choice

_NAME: Final = "tool choice"


def _choice(body: Mapping[str, Any]) -> Any:
    """Return what a request demands: a mode, or the name of a tool; None if it leaves the choice open."""
    given = body.get("tool_choice")
    limited = limited_choice(given)
    if isinstance(limited, NamedChoice):
        return f"the tool {limited.name}"
    mode = given if type(given) is str else None if limited is None else limited.mode
    return {"any": "required", "auto": None}.get(str(mode), mode)


def _choices(passage: Passage) -> Sequence[Any]:
    wanted = _choice(passage.before.body)
    return [] if wanted is None or not can_hold(passage, _choice, wanted) else [wanted]


@fact(
    Level.MUST,
    element="tool choice other than auto",
    on=_choices,
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/guides/function-calling"),
    bad=[example("settings", {"/0/backs/0/request/tool_choice": "auto"})],
    good=[example("settings")],
)
def judge(wanted: Any, passage: Passage) -> Iterator[PassageLoss]:
    """The demand for a call, for a certain one or for none arrives.

    Structured output and forced steps of agents rest on it. To fix it, translate `tool_choice` in every form, or refuse
    the request. Where no call is wanted, a request without tools says the same.
    """
    after = passage.after.body
    got = _choice(after)
    if got == wanted or (wanted == "none" and not after.get("tools")):
        return
    text = f"expected the choice {wanted!r}, got {got!r}"
    yield PassageLoss(text, passage.at_setting(_NAME), passage.at_setting_after(_NAME))
