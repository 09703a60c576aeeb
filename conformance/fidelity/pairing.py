"""Exchanges of both ends, matched by what they say, whatever a gateway reorders, splits, repeats or merges.

Texts that nobody says twice tell which request behind a gateway came from which one before it: a request of a session
has all that the earlier ones have, and more. So each exchange behind belongs to the one before that it has most in
common with, relative to what either has.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from conformance.fidelity.passages import Pair, squeezed
from conformance.fidelity.spoken import Kind, Spoken
from conformance.wire.exchange import Exchange

LENGTH: Final = 10
ALPHABET: Final = "BCDFGHJKLMNPQRTVWXZ2345679"
"""No vowels, so that no nonce is a word."""

NONCE: Final = "Q[BCDFGHJKLMNPQRTVWXZ2345679]{9}"
"""What a nonce looks like in any text."""

_NONCE: Final = re.compile(NONCE)
_SAYING: Final = (Kind.SYSTEM, Kind.USER, Kind.ANSWER, Kind.RESULT, Kind.CALL)
LEAST: Final = 0.2
"""How much of all that two requests say must be common for one to come from the other."""


class Matched(NamedTuple):
    """The pairs in the order of the front, and what has no counterpart: exchanges behind that no client asked for."""

    pairs: tuple[Pair, ...]
    strays: tuple[Exchange, ...]

    @property
    def unanswered(self) -> tuple[Pair, ...]:
        """Return the pairs whose request did not reach the back."""
        return tuple([each for each in self.pairs if not each.backs])


def match(fronts: Sequence[Exchange], backs: Sequence[Exchange]) -> Matched:
    """Match the exchanges of two ends; the exchanges behind keep their order."""
    said = [markers(each) for each in fronts]
    found: dict[int, list[Exchange]] = {}
    strays: list[Exchange] = []
    for back in backs:
        own = markers(back)
        # A gateway makes up no nonce, so what is behind has only those of the request that it comes from. Requests that
        # say the same are asked in order, so one that has an exchange behind it already comes last.
        ranked = [
            (_has_nonces_of(each, own), similarity(own, each), at not in found, -at) for at, each in enumerate(said)
        ]
        _, score, _, number = max(ranked, default=(True, 0.0, True, 0))
        if score >= LEAST:
            found.setdefault(-number, []).append(back)
        else:
            strays.append(back)
    pairs = [Pair(at, front, tuple(found.get(at, ()))) for at, front in enumerate(fronts)]
    return Matched(tuple(pairs), tuple(strays))


def _has_nonces_of(one: frozenset[str], other: frozenset[str]) -> bool:
    return {each for each in other if _NONCE.fullmatch(each)} <= one


def markers(exchange: Exchange) -> frozenset[str]:
    """Return what tells a request from others: its nonces, wherever they are, and what it says without one."""
    spoken = Spoken(exchange, "request")
    return frozenset({*_NONCE.findall(spoken.raw), *_sayings(spoken)})


def _sayings(spoken: Spoken) -> Iterator[str]:
    said: Counter[str] = Counter()
    for piece in spoken.of(*_SAYING):
        text = f"{piece.kind}: {squeezed(str(piece.value))}"
        if _NONCE.search(text):
            # Its nonces are markers on their own; the text may be joined with its neighbour on one of the wires.
            continue
        # Two requests of a session may say the same; the later one says it once more.
        said[text] += 1
        yield f"{said[text]} {text}"


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how much of all that two requests say is common to both, from 0 to 1."""
    whole = one | other
    return len(one & other) / len(whole) if whole else 0.0


def by_session(pairs: Sequence[Pair]) -> Iterator[tuple[Pair, ...]]:
    """Yield the pairs of each session: those that begin with the same words of the user."""
    found: dict[Any, list[Pair]] = {}
    for pair in pairs:
        found.setdefault(_beginning(pair.front), []).append(pair)
    yield from map(tuple, found.values())


def _beginning(exchange: Exchange) -> str:
    users = Spoken(exchange, "request").of(Kind.USER)
    return str(users[0].value) if users else ""
