"""Fact: ids of calls are kept, or mapped one to one and back."""

from collections.abc import Iterator, Sequence
from typing import Any

from conformance.fidelity import BOTH, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import whole
from conformance.fidelity.passages import GATEWAY, Passage, passages
from conformance.fidelity.spoken import Kind, SpokenPiece


def _turns(passage: Passage) -> Sequence[Passage]:
    return [each for each in whole(passage) if any([call.id for call in each.before.of(Kind.CALL)])]


@fact(
    Level.MUST,
    element="call with an id",
    on=_turns,
    of=BOTH,
    source=Source("https://platform.openai.com/docs/guides/function-calling"),
    bad=[example("session", {"/0/front/response/content/3/id": "call_a"})],
    good=[
        example("session", {"/0/front/response/content/2/id": "toolu_1", "/0/front/response/content/3/id": "toolu_2"})
    ],
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """Ids of calls are kept, or mapped one to one and back, within a turn and across turns.

    Two calls with one id get each other's results. To fix it, keep ids, or map each to one that no other call of the
    conversation has, always the same. A provider that gets another id back than it gave is a SHOULD.
    """
    seen: dict[Any, tuple[SpokenPiece, Any]] = {}
    for each in passage.became(Kind.CALL):
        before, after = each.before, each.after
        if after is None or before.id in (None, ""):
            continue
        at, became = passage.at(before), passage.at_after(after)
        if after.id in (None, ""):
            # A wire without ids pairs by position and name.
            if passage.after.exchange.protocol != "gemini":
                yield PassageLoss(f"expected an id for the call {before.id!r}, got none", at, became)
            continue
        other = seen.setdefault(after.id, (before, before.id))
        if other[1] != before.id:
            text = f"expected different ids for the calls {other[1]!r} and {before.id!r}, got {after.id!r} for both"
            yield PassageLoss(text, at, became)
        yield from _across_turns(before.id, after.id, passage, (at, became))


def _across_turns(before: Any, after: Any, passage: Passage, places: tuple[str, str]) -> Iterator[PassageLoss]:
    """Yield what is wrong with a pair of ids in view of those of the session."""
    if not passage.is_request:
        return
    given = [
        each.before.id
        for other in passages(passage.session)
        if other.by == GATEWAY and other.is_reply and other.numbers[0] < passage.numbers[0]
        for each in other.became(Kind.CALL)
        if each.after is not None and each.after.id == before and each.before.id not in (None, "")
    ]
    if given and after not in given:
        text = f"expected the id {given[0]!r} that the provider gave, got {after!r} back"
        yield PassageLoss(text, *places, Level.SHOULD)
