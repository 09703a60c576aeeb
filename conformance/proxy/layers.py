"""Which layer is at fault, and what a gateway changes, where the proxy listens before and behind it.

The exchange before the gateway and those behind it are matched by a header that the gateway passes on, or by what both
say. They are compared by the facts about gateways: what is lost between the taps is a finding. What the gateway does to
a field is named once, with all positions in lists as one place.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from conformance.documents.pointer import Place, render
from conformance.fidelity import Difference, differences
from conformance.fidelity.blame import trace_each
from conformance.fidelity.pairing import LEAST, markers, similarity
from conformance.fidelity.passages import BACK, CLIENT, FRONT, GATEWAY, PROVIDER, Pair
from conformance.profiles import Profile
from conformance.proxy.conversations import replies
from conformance.proxy.judging import Judged, RuleFinding
from conformance.wire.exchange import Exchange
from conformance.wire.text import quoted
from conformance.wires import translate

__all__ = [
    "BEFORE",
    "BEHIND",
    "CLIENT",
    "GATEWAY",
    "PROVIDER",
    "FieldChange",
    "Layers",
    "layer_before",
    "layer_behind",
    "traced",
]

MAX_PAIRS: Final = 16
"""How many exchanges of a conversation are held together with what a gateway made of them, the last ones."""

BEFORE: Final = "before"
BEHIND: Final = "behind"
"""The side of the gateway that a tap is on."""

MAX_WAITING: Final = 256
"""How many exchanges behind the gateway wait for the one before it."""

_REFUSED: Final = 400
_MAX_CHANGES: Final = 500
_ABSENT: Final = object()
_ANY: Final = "*"


class FieldChange(NamedTuple):
    """What the gateway does to a field: the place, with `*` for positions in lists, and what became of it."""

    at: str
    what: str


class _Waiting(NamedTuple):
    """An exchange behind the gateway, the header that it came with, and what it says."""

    judged: Judged
    named: str
    said: frozenset[str]


@dataclass(slots=True)
class Layers:
    """Matches the exchanges of both taps; `changes` counts what the gateway did, by change."""

    changes: dict[FieldChange, int] = field(default_factory=dict)
    matched: int = 0
    _waiting: deque[_Waiting] = field(default_factory=deque)
    _sessions: OrderedDict[int, deque[Pair]] = field(default_factory=OrderedDict)
    _lost: set[tuple[str, str, str]] = field(default_factory=set)

    def wait(self, judged: Judged, named: str) -> Iterator[Judged]:
        """Keep an exchange behind the gateway; yield those that have waited too long for the one before it."""
        self._waiting.append(_Waiting(judged, named, markers(_canonical(judged.exchange))))
        while len(self._waiting) > MAX_WAITING:
            yield self._waiting.popleft().judged

    def match(self, judged: Judged, named: str) -> list[Judged]:
        """Return the exchanges behind the gateway that one before it led to, the last one being the answer."""
        if named:
            found = [each for each in self._waiting if each.named == named]
        else:
            found = list(_alike(markers(_canonical(judged.exchange)), self._waiting))
        for each in found:
            self._waiting.remove(each)
        self.matched += bool(found)
        return [each.judged for each in found]

    def rest(self) -> Iterator[Judged]:
        """Yield the exchanges behind the gateway that none before it led to."""
        yield from [each.judged for each in self._waiting]
        self._waiting.clear()

    def session(self, before: Judged, behind: Sequence[Judged]) -> tuple[Pair, ...]:
        """Return the pairs of the session of an exchange before the gateway, its own last; they are remembered."""
        pairs = self._sessions.setdefault(before.conversation.number, deque(maxlen=MAX_PAIRS))
        self._sessions.move_to_end(before.conversation.number)
        backs = tuple([_canonical(each.exchange) for each in behind])
        pairs.append(Pair(before.number, _canonical(before.exchange), backs))
        if len(self._sessions) > MAX_WAITING:
            self._sessions.popitem(last=False)
        return tuple(pairs)

    def losses(self, session: Sequence[Pair], profile: Profile | None = None) -> Iterator[Difference]:
        """Yield what the gateway lost of the last pair of a session; what the client loses, the rules find."""
        last = session[-1].number
        for each in differences(session, profile).differences:
            numbers = {place.split("/")[1] for place in (each.at, each.became)}
            key = each.fact, each.message, each.at
            if each.by == GATEWAY and str(last) in numbers and key not in self._lost:
                if len(self._lost) < _MAX_CHANGES:
                    self._lost.add(key)
                yield each

    def new_changes(self, before: Exchange, behind: Exchange) -> Iterator[FieldChange]:
        """Yield what the gateway changes in an exchange and was not seen to change before."""
        asked = _differences(before.request, behind.request, ("request",))
        answered = _differences(_answer(behind), _answer(before), ("response",))
        for change in dict.fromkeys([*asked, *answered]):
            # A gateway may add keys that are new in every exchange, hence the bound below.
            if change in self.changes:
                self.changes[change] += 1
            elif len(self.changes) < _MAX_CHANGES:
                self.changes[change] = 1
                yield change


def traced(session: Sequence[Pair], profile: Profile | None) -> Mapping[tuple[str, str], str]:
    """Return who caused what the rules find in a session, by rule and place; only those for whom two places stand."""
    found = trace_each(session, profile)
    return {(each.rule, each.finding.at): each.by for each in found if each.by and each.other}


def layer_before(found: RuleFinding, behind: Judged | None, known: Mapping[tuple[str, str], str]) -> str:
    """Return the layer at fault for a finding before the gateway; empty if that is unknown."""
    return known.get((found.rule, _place(found, FRONT))) or _layer(found, behind, CLIENT, PROVIDER)


def layer_behind(found: RuleFinding, before: Judged | None, known: Mapping[tuple[str, str], str]) -> str:
    """Return the layer at fault for a finding behind the gateway; empty if that is unknown."""
    return known.get((found.rule, _place(found, BACK))) or _layer(found, before, PROVIDER, CLIENT)


def _place(found: RuleFinding, end: str) -> str:
    _, number, *inside = found.finding.at.split("/")
    return "/".join(["", number, end, *inside])


def _layer(found: RuleFinding, other: Judged | None, near: str, far: str) -> str:
    """Return the layer at fault: the near one by itself, the far one if the other exchange shows it too."""
    if found.finding.side == near:
        return near
    if other is None:
        return ""
    return far if found.rule in other.failing else GATEWAY


def _canonical(exchange: Exchange) -> Exchange:
    return translate((exchange,))[0]


def _alike(said: frozenset[str], waiting: Sequence[_Waiting]) -> Iterator[_Waiting]:
    """Yield the first exchange behind that says most of the same, and those before it that failed."""
    scores = [(similarity(said, each.said), each) for each in waiting]
    best = max([score for score, _ in scores], default=0.0)
    for score, each in scores:
        if best >= LEAST and score == best:
            yield each
            if (each.judged.exchange.status or 0) < _REFUSED:
                return


def _answer(exchange: Exchange) -> Any:
    """Return a reply as both sides of a gateway can be compared; a stream as the messages that it amounts to."""
    body = exchange.response
    if not exchange.streamed:
        return body
    found = replies(exchange)
    choices = [{"message": reply.message, "finish_reason": reply.finish_reason} for reply in found]
    return {"choices": choices}


def _differences(before: Any, after: Any, place: Place) -> Iterator[FieldChange]:
    """Yield how a value differs from what it was."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys([*before, *after]):
            yield from _differences(before.get(key, _ABSENT), after.get(key, _ABSENT), (*place, str(key)))
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield FieldChange(render(place), "gets another number of elements")
        for old, new in zip_longest(before, after, fillvalue=_ABSENT):
            if _ABSENT not in (old, new):
                yield from _differences(old, new, (*place, _ANY))
    elif after is _ABSENT:
        yield FieldChange(render(place), "removed")
    elif before is _ABSENT:
        yield FieldChange(render(place), "added")
    # Python takes 1, 1.0 and true for equal; in JSON they are not.
    elif before != after or type(before) is not type(after):
        yield FieldChange(render(place), _changed(before, after))


def _changed(before: Any, after: Any) -> str:
    if isinstance(before, str) and isinstance(after, str):
        return "changed"
    return f"changed from {quoted(before)} to {quoted(after)}"
