"""Fact: what is said stays in its order."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from conformance.fidelity import REMOVE, REQUESTS, Level, PassageLoss, Source, example, fact
from conformance.fidelity.facts._views import whole
from conformance.fidelity.passages import Passage, squeezed
from conformance.fidelity.spoken import Kind, SpokenPiece

_SAID: Final = (Kind.USER, Kind.ANSWER, Kind.RESULT)
"""What has an order on every wire; instructions may all have to come first, and calls be one to a message."""

_SEVERAL: Final = 2
_TEXT: Final = {"type": "text", "text": "Where is this?"}
_PIXEL: Final = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
_IMAGE: Final = {"type": "image_url", "image_url": {"url": _PIXEL}}
_LATER: Final = {"role": "user", "content": "What is the weather in Paris and in Rome?"}


def _several(passage: Passage) -> Sequence[Passage]:
    found = passage.became(*_SAID, Kind.IMAGE)
    return whole(passage) if len([each for each in found if each.after is not None]) >= _SEVERAL else []


@fact(
    Level.MUST,
    element="request that says several things",
    on=_several,
    of=REQUESTS,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[
        example("session", {"/1/backs/0/request/messages/0": REMOVE, "/1/backs/0/request/messages/-": _LATER}),
        example("settings", {"/0/backs/0/request/messages/1/content": [_IMAGE, _TEXT]}),
    ],
    good=[example("session"), example("settings")],
)
def judge(passage: Passage, _same: Passage) -> Iterator[PassageLoss]:
    """What is said stays in its order: texts, answers and results by their turns, and the parts of a message.

    A model reads a question before or after what it is about. To fix it, translate the messages one after the other;
    only instructions may have to come first, and a late result to its call. The order of the parts of one message is a
    SHOULD.
    """
    late = _late_results(passage)
    taken = [
        each
        for each in passage.became(*_SAID)
        if each.after is not None and each.before not in late and _is_said_once(each.before, passage)
    ]
    for one, other in pairwise(taken):
        if one.after is None or other.after is None or one.before.turn == other.before.turn:
            continue
        # The order of results is a fact of its own.
        is_of_results = one.before.kind is other.before.kind is Kind.RESULT
        if other.after.turn < one.after.turn and not is_of_results:
            text = f"expected {one.before.value!r:.40} first, got {other.before.value!r:.40}"
            yield PassageLoss(text, passage.at(one.before), passage.at_after(one.after))
    parts = [each for each in passage.became(Kind.USER, Kind.IMAGE) if each.before.name != "tool"]
    for one, other in pairwise(sorted(parts, key=lambda each: _number(each.before.place))):
        if one.after is None or other.after is None or one.before.turn != other.before.turn:
            continue
        if one.after.turn == other.after.turn and _number(other.after.place) < _number(one.after.place):
            text = f"expected the {one.before.kind} before the {other.before.kind}, got it behind"
            yield PassageLoss(text, passage.at(one.before), passage.at_after(one.after), Level.SHOULD)


def _is_said_once(piece: SpokenPiece, passage: Passage) -> bool:
    """Return whether a text has one place after; of one that is said again, nobody knows which it became."""
    wanted = squeezed(str(piece.value))
    return len([each for each in passage.after.of(piece.kind) if wanted in squeezed(str(each.value))]) == 1


def _late_results(passage: Passage) -> list[SpokenPiece]:
    """Return the results that do not follow their calls at once; most wires want them there."""
    calls = {each.id: each.turn for each in passage.before.of(Kind.CALL)}
    said = [each.turn for each in passage.before.of(Kind.USER, Kind.ANSWER)]
    return [
        each
        for each in passage.before.of(Kind.RESULT)
        if any([calls.get(each.id, each.turn) < turn < each.turn for turn in said])
    ]


def _number(place: Sequence[str | int]) -> tuple[int, ...]:
    return tuple([each for each in place if isinstance(each, int)])
