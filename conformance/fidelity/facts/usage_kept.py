"""Fact: the numbers of tokens arrive."""

from collections.abc import Iterator, Sequence

from conformance.fidelity import REPLIES, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import whole
from conformance.fidelity.passages import Passage

_COUNTS = ("prompt_tokens", "completion_tokens")


def _counted(passage: Passage) -> Sequence[Passage]:
    return [each for each in whole(passage) if each.before.usage or each.after.usage]


@fact(
    Level.MUST,
    element="reply with numbers of tokens",
    on=_counted,
    of=REPLIES,
    source=Source("https://platform.openai.com/docs/api-reference/chat/object"),
    bad=[example("session", {"/0/front/response/usage/output_tokens": 0})],
    good=[example("session", {"/0/front/response/usage/service_tier": "standard"})],
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """The numbers of tokens arrive, plain and streamed.

    Agents compact their history and users pay by them. To fix it, ask for the usage of a stream where it must be asked
    for, and translate it with what each wire counts in.
    """
    before, after = passage.before.usage, passage.after.usage
    at = passage.pointer_before(passage.before.pointer(passage.before.usage_place))
    became = passage.pointer_after(passage.after.pointer(passage.after.usage_place))
    if not before:
        if not any([after.get(name) for name in _COUNTS]):
            text = "expected that the usage of the stream is asked for, got made-up counts of 0"
            yield PassageLoss(text, at, became, Level.SHOULD)
        return
    if not after:
        yield PassageLoss("expected the numbers of tokens, got none", at, became)
        return
    for name in _COUNTS:
        if type(before.get(name)) is int and before[name] != after.get(name):
            yield PassageLoss(f"expected {before[name]} {name}, got {after.get(name)!r}", at, became)
