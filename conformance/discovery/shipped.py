"""What the shipped profiles say of a wire: the claims they make there, the switches, and which profile is nearest."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from math import sqrt
from typing import Any, NamedTuple

import orjson

from conformance import profiles
from conformance.observations.collected import ObservedClaims
from conformance.observations.comparing import Relation, relation
from conformance.profiles import Profile
from conformance.wire.native import CHAT

Z = 1.96
"""How many standard deviations a share may lie above the one that is certain, for 95 %."""


def sections(wire: str) -> Iterator[Profile]:
    """Yield what the shipped profiles say of a wire."""
    for profile in map(profiles.load, profiles.names()):
        if wire in profile.wires:
            yield profile.on(wire)


@cache
def _claimed(wire: str) -> frozenset[str]:
    """Return the claims that some shipped profile makes of a wire, for any model."""
    names = [
        name
        for profile in sections(wire)
        for claims in (profile.claims, *(model.claims for model in profile.models))
        for name in claims
    ]
    return frozenset(names)


def shown(found: ObservedClaims, wire: str) -> ObservedClaims:
    """Return the claims that replies can show: a translation has members of chat completions that its wire has not.

    Replies of chat completions are not translated, so all that they show is their own.
    """
    return found if wire == CHAT else {name: each for name, each in found.items() if name in _claimed(wire)}


@cache
def known_switches(name: str, wire: str = CHAT) -> tuple[dict[str, Any], ...]:
    """Return the values of a claim in what all shipped profiles say of a wire, the most common one first."""
    found: Counter[bytes] = Counter()
    for profile in sections(wire):
        for claims in (profile.claims, *(model.claims for model in profile.models)):
            values = [each.value for each in claims.get(name, ()) if isinstance(each.value, dict) and each.value]
            found.update({orjson.dumps(value, option=orjson.OPT_SORT_KEYS) for value in values})
    return tuple([orjson.loads(text) for text, _ in sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))])


class Similarity(NamedTuple):
    """How much a shipped profile is like what was discovered: the claims that are the same, and those that differ."""

    provider: str
    model: str
    same: tuple[str, ...]
    different: tuple[str, ...]

    @property
    def share(self) -> float:
        """Return the share of the claims that both make which are the same."""
        return len(self.same) / max(1, len(self.same) + len(self.different))

    @property
    def certain_share(self) -> float:
        """Return the share that the number of compared claims makes certain (Wilson's lower bound, 95 %).

        So neither a profile with a few equal claims wins, nor one with many claims of which many differ.
        """
        count = len(self.same) + len(self.different)
        spread = Z * sqrt(self.share * (1 - self.share) / count + (Z / count) ** 2 / 4) if count else 0.0
        return (self.share + Z**2 / (2 * count) - spread) / (1 + Z**2 / count) if count else 0.0


def similarity(found: Mapping[str, Any], profile: Profile) -> Similarity:
    """Return how much a profile is like what was discovered, for its default model."""
    claimed = profile.at(profile.model)
    relations = {name: relation(name, value, claimed.get(name)) for name, value in found.items()}
    same = [name for name, each in relations.items() if each in (Relation.EQUAL, Relation.FITS)]
    different = [name for name, each in relations.items() if each is Relation.DIFFERENT]
    return Similarity(profile.name, profile.model, tuple(same), tuple(different))


def nearest(found: Mapping[str, Any], wire: str = CHAT) -> Similarity:
    """Return the shipped profile that is most like what was discovered; of several, the one that claims more of it."""
    every: Iterator[Similarity] = (similarity(found, profile) for profile in sections(wire))
    return max(every, key=lambda each: (each.certain_share, len(each.same)))
