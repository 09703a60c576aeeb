"""What passed: the four bodies of an exchange at a gateway, matched, and each piece with what it became.

The front is what the client sends and gets, the back what the provider gets and answers. A passage is one body on its
way through one party: a request or a reply through the gateway, or a reply through the client into its next request.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

import orjson

from conformance.documents.pointer import Place
from conformance.fidelity.spoken import Kind, Spoken, SpokenPiece, holds
from conformance.profiles import Profile
from conformance.wire.exchange import Exchange

CLIENT: Final = "client"
GATEWAY: Final = "gateway"
PROVIDER: Final = "provider"

FRONT: Final = "front"
BACK: Final = "back"

_SPACE: Final = re.compile(r"\s+")
_MESSAGE: Final = len(("request", "messages", 0))


@dataclass(frozen=True)
class Pair:
    """An exchange before the gateway and those behind it that it led to; several if the gateway tries again.

    `seen`: what was seen beside the bodies, by name, such as whether deltas came in time.
    """

    number: int
    front: Exchange
    backs: tuple[Exchange, ...] = ()
    seen: Mapping[str, bool] = field(default_factory=dict)

    @property
    def answer(self) -> Exchange | None:
        """Return the exchange behind the gateway whose reply the client got: the last one."""
        return self.backs[-1] if self.backs else None


class Became(NamedTuple):
    """A piece and what it became; `moved` if that is of another kind, `spaced` if only white space differs."""

    before: SpokenPiece
    after: SpokenPiece | None
    moved: bool = False
    spaced: bool = False


@dataclass(frozen=True)
class Passage:
    """One body before and after a party.

    `by`: who passed it on. `ends`: the names of the two ends, such as `front` and `back`, and `numbers` those of the
    pairs that they belong to. `session`: all pairs of the session. `profile` is that of the provider, if it is known.
    """

    by: str
    before: Spoken
    after: Spoken
    ends: tuple[str, str]
    numbers: tuple[int, int]
    session: "tuple[Pair, ...]" = field(default=(), repr=False)
    profile: Profile | None = field(default=None, repr=False)

    @property
    def is_reply(self) -> bool:
        """Return whether a reply passes the gateway."""
        return self.before.is_reply and self.after.is_reply

    @property
    def is_request(self) -> bool:
        """Return whether a request passes the gateway."""
        return not self.before.is_reply

    @property
    def pair(self) -> Pair:
        """Return the four bodies that the passage is a part of."""
        return next(each for each in self.session if each.number == self.numbers[0])

    def at(self, piece: SpokenPiece) -> str:
        """Return where a piece is before."""
        return self._pointer(0, self.before.piece_pointer(piece))

    def at_after(self, piece: SpokenPiece) -> str:
        """Return where a piece is after."""
        return self._pointer(1, self.after.piece_pointer(piece))

    def at_loss(self, piece: SpokenPiece) -> str:
        """Return where a piece that is lost would be: in the message that has others of its turn, or in the body."""
        if piece.kind is Kind.TOOL:
            place: Place = ("request", "tools") if self.after.body.get("tools") else ()
        elif self.is_reply:
            place = self.after.reply_place
        else:
            others = [each.after for each in self.kept if each.before.turn == piece.turn and each.after is not None]
            place = others[0].place[:_MESSAGE] if others else ()
        return self._pointer(1, self.after.pointer(place) if place else f"/{self.after.direction}")

    def at_setting(self, name: str) -> str:
        """Return where a setting is before; the body if the request lacks it."""
        found = self.before.setting(name)
        return self._pointer(0, f"/{self.before.direction}" if found is None else found[1])

    def at_setting_after(self, name: str) -> str:
        """Return where a setting is after, or the nearest member that there is for it; else the body."""
        found = self.after.setting(name)
        return self._pointer(1, self.after.nearest(name) if found is None else found[1])

    def pointer_before(self, inside: str) -> str:
        """Return a pointer into the body before as one into the four bodies."""
        return self._pointer(0, inside)

    def pointer_after(self, inside: str) -> str:
        """Return a pointer into the body after as one into the four bodies."""
        return self._pointer(1, inside)

    def _pointer(self, which: int, inside: str) -> str:
        return f"/{self.numbers[which]}/{self.ends[which]}{inside}"

    def repeated(self, piece: SpokenPiece) -> float:
        """Return how many times as often as before a text is said after, by pieces of its kind."""
        wanted = squeezed(str(piece.value))
        if not wanted or not (self.is_reply or self.is_request):
            return 1
        before, after = [
            sum([squeezed(str(each.value)).count(wanted) for each in side.of(piece.kind)])
            for side in (self.before, self.after)
        ]
        return after / before

    @cached_property
    def kept(self) -> tuple[Became, ...]:
        """Return each piece before with what it became."""
        return tuple(_matched(self.before, self._after_pieces))

    def became(self, *kinds: Kind) -> list[Became]:
        """Return the pieces of some kinds with what they became."""
        return [each for each in self.kept if each.before.kind in kinds]

    @cached_property
    def _after_pieces(self) -> tuple[SpokenPiece, ...]:
        """Return the pieces after: of a reply that a client sends back, those of the message that repeats it."""
        if self.is_reply or self.is_request:
            return self.after.pieces
        return tuple(_echoed(self.before, self.after))


def _echoed(reply: Spoken, request: Spoken) -> Sequence[SpokenPiece]:
    """Return the pieces of the assistant message of a request that repeats most of a reply."""
    turns: dict[int, list[SpokenPiece]] = {}
    for piece in request.of(Kind.REASONING, Kind.SIGNATURE, Kind.ANSWER, Kind.CALL):
        turns.setdefault(piece.turn, []).append(piece)
    wanted = {_key(piece) for piece in reply.pieces} | {piece.id for piece in reply.of(Kind.CALL)}
    scored = [
        (len(wanted & ({_key(piece) for piece in pieces} | {each.id for each in pieces if each.id})), turn)
        for turn, pieces in turns.items()
    ]
    score, turn = max(scored, default=(0, -1))
    return turns[turn] if score else ()


def is_echoed(reply: Spoken, request: Spoken) -> bool:
    """Return whether a request repeats a reply."""
    return bool(_echoed(reply, request))


def _key(piece: SpokenPiece) -> Any:
    value = arguments_value(piece.value) if piece.kind is Kind.CALL else squeezed(str(piece.value))
    return piece.kind, piece.name if piece.kind is Kind.CALL else "", repr(value)


def arguments_value(text: Any) -> Any:
    """Return the JSON value of arguments; the text itself if it is not JSON."""
    try:
        return orjson.loads(text) if type(text) is str and text.strip() else {} if text in ("", None) else text
    except orjson.JSONDecodeError:
        return text


def squeezed(text: str) -> str:
    """Return a text without white space, of which gateways add and remove some."""
    return _SPACE.sub("", text)


def _matched(before: Spoken, after: Sequence[SpokenPiece]) -> Iterator[Became]:
    texts = (Kind.SYSTEM, Kind.USER, Kind.ANSWER, Kind.REASONING)
    left = list(after)
    owned: dict[Any, Any] = {}
    for piece in before.pieces:
        if piece.kind in texts:
            yield _text(piece, after)
        elif piece.kind is Kind.SIGNATURE or piece.kind is Kind.IMAGE:
            same = [each for each in after if each.kind is piece.kind and each.value == piece.value]
            yield Became(piece, same[0] if same else None)
        elif piece.kind is Kind.RESULT:
            yield Became(piece, _take_result(piece, left, owned))
        else:
            found = _take_call(piece, left) if piece.kind is Kind.CALL else _take_tool(piece, left)
            if found is not None and piece.kind is Kind.CALL:
                owned.setdefault(piece.id, found.id)
            yield Became(piece, found)


def _text(piece: SpokenPiece, after: Sequence[SpokenPiece]) -> Became:
    """Return a text with the one that it became, whole, merged into a longer one, or split."""
    own = [each for each in after if each.kind is piece.kind]
    for each in own:
        if each.value == piece.value or piece.value.strip() in each.value:
            is_spaced = each.value != piece.value and piece.value not in each.value
            return Became(piece, each, spaced=is_spaced)
    wanted = squeezed(piece.value)
    for each in own:
        if wanted in squeezed(each.value):
            return Became(piece, each, spaced=True)
    if own and wanted in squeezed("".join([each.value for each in own])):
        return Became(piece, own[0])
    for each in after:
        if type(each.value) is str and wanted in squeezed(each.value):
            return Became(piece, each, moved=True)
    return Became(piece, None)


def _take_call(piece: SpokenPiece, left: list[SpokenPiece]) -> SpokenPiece | None:
    """Return the call after that is the same one: by its id, by what it says, or by its name; each is taken once."""
    own = [each for each in left if each.kind is Kind.CALL]
    value = arguments_value(piece.value)
    same = [each for each in own if each.name == piece.name and arguments_value(each.value) == value]
    chosen = next((each for each in same if each.id == piece.id), same[0] if same else None)
    if chosen is None:
        # Without the same arguments, only the id shows which call it was; ids that were mapped leave the name.
        named = [each for each in own if each.id == piece.id] or [each for each in own if each.name == piece.name]
        chosen = named[0] if named else None
    if chosen is not None:
        left.remove(chosen)
    return chosen


def _take_tool(piece: SpokenPiece, left: list[SpokenPiece]) -> SpokenPiece | None:
    found = next((each for each in left if each.kind is Kind.TOOL and each.name == piece.name), None)
    if found is not None:
        left.remove(found)
    return found


def _take_result(piece: SpokenPiece, left: list[SpokenPiece], owned: dict[Any, Any]) -> SpokenPiece | None:
    """Return the result after that says the same; of several, the one for the same call."""
    own = [each for each in left if each.kind is Kind.RESULT]
    wanted = squeezed(piece.value)
    same = [each for each in own if wanted and wanted in squeezed(each.value)]
    mapped = owned.get(piece.id, piece.id)
    for_call = [each for each in own if each.id == mapped and mapped is not None]
    chosen = next((each for each in same if each in for_call), None) or next(iter(same or for_call), None)
    if chosen is not None:
        left.remove(chosen)
    return chosen


def passages(session: Sequence[Pair], profile: Profile | None = None) -> Iterator[Passage]:
    """Yield every passage of a session: requests and replies through the gateway, and replies through the client."""
    pairs = tuple(session)
    for at, pair in enumerate(pairs):
        front = Spoken(pair.front, "request"), Spoken(pair.front, "response")
        for earlier in reversed(pairs[:at]):
            reply = Spoken(earlier.front, "response")
            if reply.pieces and is_echoed(reply, front[0]):
                numbers = earlier.number, pair.number
                yield Passage(CLIENT, reply, front[0], (FRONT, FRONT), numbers, pairs, profile)
                break
        if (answer := pair.answer) is None:
            continue
        back = Spoken(answer, "request"), Spoken(answer, "response")
        yield Passage(GATEWAY, front[0], back[0], (FRONT, BACK), (pair.number, pair.number), pairs, profile)
        if answer.response is not None:
            yield Passage(GATEWAY, back[1], front[1], (BACK, FRONT), (pair.number, pair.number), pairs, profile)


def carried_anywhere(value: str, passage: Passage) -> bool:
    """Return whether the body after holds a value, or one that goes back to the provider later does."""
    if holds(passage.after.raw, value):
        return True
    if not passage.is_reply:
        return False
    later = [each for each in passage.session if each.number > passage.numbers[0] and each.answer is not None]
    return any([holds(Spoken(each.answer, "request").raw, value) for each in later if each.answer is not None])
