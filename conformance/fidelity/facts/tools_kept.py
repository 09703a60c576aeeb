"""Fact: every tool of a request arrives, with its name and its description."""

from collections.abc import Iterator
from typing import Final

from conformance.fidelity import REMOVE, REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import kept
from conformance.fidelity.passages import Became, Passage, squeezed
from conformance.fidelity.spoken import Kind

_FURTHER: Final = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}


@fact(
    Level.MUST,
    element="tool",
    on=kept(Kind.TOOL),
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/guides/function-calling"),
    bad=[
        example("settings", {"/0/backs/0/request/tools/1": REMOVE}),
        example("settings", {"/0/backs/0/request/tools/0/function/description": ""}),
    ],
    good=[example("settings", {"/0/backs/0/request/tools/-": _FURTHER})],
)
def judge(each: Became, passage: Passage) -> Iterator[PassageLoss]:
    """Every tool of a request arrives, with its name and its description.

    A model cannot call a tool that it was not offered, and chooses tools by their descriptions. To fix it, translate
    the whole list of tools.
    """
    before, after = each.before, each.after
    if after is None:
        yield PassageLoss(
            f"expected the tool {before.name}, got none of that name", passage.at(before), passage.at_loss(before)
        )
        return
    said, got = before.value.get("description"), after.value.get("description")
    if said and squeezed(str(said)) not in squeezed(str(got or "")):
        text = f"expected the description of {before.name} as it was, got {got!r:.80}"
        yield PassageLoss(text, passage.at(before), passage.at_after(after))
