"""Fact: a reply ends for the reason that the provider gives."""

from collections.abc import Iterator, Sequence

from conformance.fidelity import REPLIES, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import whole
from conformance.fidelity.passages import Passage
from conformance.fidelity.spoken import Kind


def _ended(passage: Passage) -> Sequence[Passage]:
    return [each for each in whole(passage) if each.before.finish_reason is not None]


@fact(
    Level.MUST,
    element="reply with a stop reason",
    on=_ended,
    of=REPLIES,
    source=Source("https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons"),
    bad=[example("session", {"/0/front/response/stop_reason": "end_turn"})],
    good=[example("session")],
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """A reply ends for the reason that the provider gives.

    A client runs calls, asks for more or stops by this reason. To fix it, translate every reason, also that of a cut at
    the token limit.
    """
    wanted, got = passage.before.finish_reason, passage.after.finish_reason
    # A provider that gives the reason of an answer beside calls is corrected.
    is_corrected = got == "tool_calls" and bool(passage.before.of(Kind.CALL))
    if got != wanted and not is_corrected:
        at = passage.pointer_before(passage.before.pointer(passage.before.finish_place))
        became = passage.pointer_after(passage.after.pointer(passage.after.finish_place))
        yield PassageLoss(f"expected the stop reason {wanted!r}, got {got!r}", at, became)
