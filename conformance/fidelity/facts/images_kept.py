"""Fact: every image arrives, also one in a result."""

from collections.abc import Iterator

from conformance.fidelity import REMOVE, REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import kept
from conformance.fidelity.passages import Became, Passage
from conformance.fidelity.spoken import Kind, holds


@fact(
    Level.MUST,
    element="image",
    on=kept(Kind.IMAGE),
    of=REQUESTS,
    source=Source("https://platform.claude.com/docs/en/build-with-claude/vision"),
    bad=[example("settings", {"/0/backs/0/request/messages/1/content/1": REMOVE})],
    good=[example("settings", {"/0/backs/0/request/messages/1/content/1/image_url/detail": "auto"})],
)
def judge(each: Became, passage: Passage) -> Iterator[PassageLoss]:
    """Every image arrives with its type, also one in a result.

    To fix it, translate images in results, too: on a wire whose results are text, in a message of the user after them.
    """
    if not holds(passage.after.raw, each.before.value):
        where = "in a result" if each.before.name == "tool" else "of the user"
        text = f"expected the image {where}, got its data nowhere"
        yield PassageLoss(text, passage.at(each.before), passage.at_loss(each.before))
    elif each.after is not None and None not in (each.before.id, each.after.id) and each.before.id != each.after.id:
        text = f"expected an image of the type {each.before.id}, got one of {each.after.id!r}"
        yield PassageLoss(text, passage.at(each.before), passage.at_after(each.after))
