"""The one comparison: what was seen beside a claim, beside what was seen before, or beside what was seen elsewhere."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeAlias

from conformance import linear
from conformance.observations.refusals import is_claimed
from conformance.observations.sights import Sight, kinds
from conformance.profiles import UNKNOWN, UPSTREAM, Claims
from conformance.wire.ids import text_matching

_SAMPLES: Final = 20
_ANSWERED: Final = ("accepted", "ignored", "damaged")
"""The values of a claim about a deviation that is answered without an error; the status tells none from another."""

_IN_STREAMS: Final = {"ids.format-in-stream": "ids.format"}
"""Claims about streams alone: where they are not made, the other one holds for streams, too."""


class Relation(StrEnum):
    """How what was seen relates to a value that is claimed, or was seen before.

    `FITS`: the same as far as answers can show it, such as accepted and ignored, or a part of a list. `UNCLAIMED`:
    there is no other value.
    """

    EQUAL = "equal"
    FITS = "fits"
    UNCLAIMED = "unclaimed"
    DIFFERENT = "different"


def relation(name: str, seen: Any, other: Any) -> Relation:
    """Return how a value of a claim that was derived from exchanges relates to another one (None: there is none)."""
    if other is None or other in (UNKNOWN, UPSTREAM):
        return Relation.UNCLAIMED
    if _is_equal(seen, other):
        return Relation.EQUAL
    return Relation.FITS if _fits(name, kinds().get(name, ""), seen, other) else Relation.DIFFERENT


def is_change(name: str, seen: Any, before: Any, claimed: Any) -> bool:
    """Return whether a value that was seen is news: it is neither the claimed one nor the one seen before.

    `before` and `claimed` are None if there is none; without either, nothing has changed.
    """
    relations = [relation(name, seen, other) for other in (claimed, before)]
    if {Relation.EQUAL, Relation.FITS}.intersection(relations):
        return False
    return Relation.DIFFERENT in relations


def matching(seen: Mapping[str, Iterable[Sight]], claims: Claims) -> tuple[frozenset[str], frozenset[str]]:
    """Return the claims whose value one exchange shows, and those of which it shows another value."""
    every = _with_streams(seen, claims)
    known = {name: claims[name] for name in every if claims.get(name, UNKNOWN) != UNKNOWN}
    same = frozenset(name for name, claimed in known.items() if _is_shown(claimed, every[name]))
    other = frozenset(name for name in known if name not in same and not all(each.partial for each in every[name]))
    return same, other


def answered(seen: Mapping[str, Iterable[Sight]], claims: Claims) -> frozenset[str]:
    """Return the claims about deviations that were answered without an error, if that does not show their value."""
    return frozenset(
        name
        for name, sights in seen.items()
        if is_only_answered(claims.get(name)) and any("accepted" in each.values for each in sights)
    )


def is_only_answered(claimed: Any) -> bool:
    """Return whether an answer without an error neither shows a claim about a deviation nor contradicts it."""
    return claimed == UNKNOWN or (claimed in _ANSWERED and claimed != "accepted")


class Contrast(NamedTuple):
    """One thing that sources show differently: its name, and the text of each source, by the source's name."""

    name: str
    texts: Mapping[str, str]


Texts: TypeAlias = Mapping[str, str]
"""What one source shows, in words, by name."""


def contrasts(sources: Mapping[str, Texts], absent: str) -> Iterator[Contrast]:
    """Yield what is not the same text in all sources, in the order in which they have it; `absent` stands for none."""
    for name in dict.fromkeys(name for texts in sources.values() for name in texts):
        texts = {source: each.get(name, absent) for source, each in sources.items()}
        if len(set(texts.values())) > 1:
            yield Contrast(name, texts)


def _with_streams(seen: Mapping[str, Iterable[Sight]], claims: Claims) -> Mapping[str, tuple[Sight, ...]]:
    every = {name: tuple(sights) for name, sights in seen.items()}
    for name, general in _IN_STREAMS.items():
        if name in every and claims.get(name, UNKNOWN) == UNKNOWN:
            every[general] = (*every.get(general, ()), *every[name])
    return every


def _is_shown(claimed: Any, sights: Iterable[Sight]) -> bool:
    """Return whether a claimed value is one that was seen, and nothing else was seen that it excludes."""
    found = False
    for sight in sights:
        if any(_allows(sight.claim, claimed, each) for each in sight.values):
            found = True
        elif not sight.partial:
            return False
    return found


def _allows(name: str, claimed: Any, seen: Any) -> bool:
    """Return whether a claimed value is a value that was seen, lists it, or is a pattern that matches it."""
    values = claimed if isinstance(claimed, list) and not isinstance(seen, list) else [claimed]
    if kinds().get(name) == "pattern" and isinstance(seen, str):
        return any(linear.fits(each, seen) for each in values)
    return any(_is_equal(seen, each) for each in values)


def _is_equal(left: Any, right: Any) -> bool:
    """Compare JSON values; unlike in Python, true is not 1, and the order of a list does not matter."""
    if isinstance(left, list) and isinstance(right, list):
        return sorted(map(str, left)) == sorted(map(str, right))
    return isinstance(left, bool) is isinstance(right, bool) and bool(left == right)


def _fits(name: str, kind: str, seen: Any, other: Any) -> bool:
    if kind == "pattern":
        return _share_ids(seen, other)
    if isinstance(seen, Mapping) and isinstance(other, Mapping):
        if "refusal" in seen and "refusal" in other:
            limits = [{**each, "refusal": None} for each in (seen, other)]
            return limits[0] == limits[1] and _fits(name, "verdict", seen["refusal"], other["refusal"])
        return "status" in seen and "status" in other and is_claimed(seen, other)
    if isinstance(seen, str) and isinstance(other, str):
        return seen in _ANSWERED and other in _ANSWERED
    return all(_allows(name, other, each) for each in (seen if isinstance(seen, list) else [seen]))


def _share_ids(seen: Any, other: Any) -> bool:
    """Return whether ids of one format match the patterns of another."""
    patterns = seen if isinstance(seen, list) else [seen]
    ids = [
        text_matching(each, str(number).encode())
        for each in (other if isinstance(other, list) else [other])
        for number in range(_SAMPLES)
    ]
    return any(all(linear.fits(pattern, each) for pattern in patterns) for each in ids)
