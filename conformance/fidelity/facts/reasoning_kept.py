"""Fact: reasoning reaches the client, and comes back to the provider that wants it."""

from collections.abc import Iterator, Sequence
from typing import Final

from conformance.fidelity import BOTH, REMOVE, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import is_given, kept
from conformance.fidelity.passages import Became, Pair, Passage
from conformance.fidelity.spoken import Kind, Spoken

_SEALING: Final = ("messages", "responses")
"""The wires on which a request has reasoning only with what its provider signed or encrypted."""

_SUMMARISING: Final = ("gemini",)
"""The wires on which the text of reasoning does not come back, since signatures hold it."""


def _reasoning(passage: Passage) -> Sequence[Became]:
    found, wire = kept(Kind.REASONING)(passage), passage.after.exchange.protocol
    if not passage.is_request:
        return found
    if wire in _SUMMARISING or not _gives_any(passage.session):
        return []
    sealed = {each.turn for each in passage.before.of(Kind.SIGNATURE) if is_given(each.value, passage)}
    return [each for each in found if wire not in _SEALING or each.before.turn in sealed]


def _other_turns(each: Became, passage: Passage) -> list[int]:
    """Return the turns of the answer and the calls that reasoning led to; none if it is in one of them."""
    own = [
        other.after.turn
        for other in passage.became(Kind.ANSWER, Kind.CALL)
        if other.before.turn == each.before.turn and other.after is not None
    ]
    return [] if each.after is None or each.after.turn in own else own


def _is_beside(turn: int, others: Sequence[int], passage: Passage) -> bool:
    """Return whether nobody else says anything between a message and the next one of some."""
    said = [each.turn for each in passage.after.of(Kind.USER, Kind.RESULT)]
    return any([not [at for at in said if min(turn, other) < at < max(turn, other)] for other in others])


def _gives_any(session: Sequence[Pair]) -> bool:
    """Return whether the provider shows reasoning, and so may want it back."""
    replies = [Spoken(back, "response") for pair in session for back in pair.backs]
    return any([reply.of(Kind.REASONING) for reply in replies])


@fact(
    Level.MUST,
    element="reasoning",
    on=_reasoning,
    of=BOTH,
    source=Source("https://api-docs.deepseek.com/guides/thinking_mode"),
    bad=[
        example("session", {"/0/front/response/content/0": REMOVE}),
        example("session", {"/1/backs/0/request/messages/1/reasoning_content": REMOVE}),
    ],
    good=[example("session", {"/1/backs/0/request/messages/1/reasoning_content": "The tools know both.\n"})],
    echoed=True,
)
def judge(each: Became, passage: Passage) -> Iterator[PassageLoss]:
    """Reasoning reaches the client, and comes back to the provider that wants it, under whatever name.

    Without it, a thinking model refuses the next turn or begins to think again. To fix it, translate the field of each
    wire into that of the other, in replies, in streams and in the history. Reasoning that nobody signed has no place in
    a request to a provider that signs, nor has its text in one to Gemini, nor any in one to a provider that shows none.
    Reasoning in a message of its own, beside that of its answer, is a SHOULD.
    """
    before, after = each.before, each.after
    if after is None:
        text = f"expected the reasoning {before.value!r:.60}, got none like it"
        yield PassageLoss(text, passage.at(before), passage.at_loss(before))
    elif not passage.is_reply and (others := _other_turns(each, passage)):
        text = f"expected the reasoning {before.value!r:.60} in its own turn, got it in another"
        level = Level.SHOULD if _is_beside(after.turn, others, passage) else None
        yield PassageLoss(text, passage.at(before), passage.at_after(after), level)
    elif each.moved:
        yield PassageLoss(f"expected reasoning, got it as {after.kind}", passage.at(before), passage.at_after(after))
    elif each.spaced:
        text = "expected the reasoning as it was, got other white space"
        yield PassageLoss(text, passage.at(before), passage.at_after(after), Level.SHOULD)
