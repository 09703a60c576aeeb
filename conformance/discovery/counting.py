"""How often a value was seen, and so how sure a claim is."""

from collections.abc import Mapping, Sequence
from typing import Final

from conformance.observations.collected import LOW, ObservedClaim, ObservedClaims, Seen

ENOUGH: Final = 3
"""How often a value has to be seen to be more than low confidence."""

_FORMATS: Final = ("ids.format", "ids.format-in-stream", "reply.id-format")


def counted(claim: ObservedClaim, times: int) -> ObservedClaim:
    """Return a claim with low confidence if its value was seen too few times to tell it from chance."""
    if times >= ENOUGH:
        return claim
    seen = "seen once" if times == 1 else f"seen {times} times"
    return claim._replace(confidence=LOW, note=f"{claim.note}; {seen}" if claim.note else seen)


def with_confidence(claims: ObservedClaims, seen: Sequence[Mapping[str, Sequence[Seen]]]) -> ObservedClaims:
    """Return claims with low confidence where too few exchanges, or too few different ids, show their value."""
    found: ObservedClaims = {}
    for name, claim in claims.items():
        sights = [each for part in seen for each in part.get(name, ())]
        different = {str(each.sight.values) if name in _FORMATS else each.digest for each in sights}
        found[name] = counted(claim, len(different))
    return found


def repeated_id(seen: Mapping[str, Sequence[Seen]], claims: ObservedClaims) -> str:
    """Return an id of a call that comes again where a random one would not; empty if there is none."""
    ids = [(str(each.sight.values[0]), each.digest) for name in _FORMATS[:2] for each in seen.get(name, ())]
    unique = [claims.get(f"ids.unique-in-{place}") for place in ("reply", "conversation")]
    # The same id in replies to several conversations may be one of a model with a seed.
    is_alone = len({identifier for identifier, _ in ids}) == 1 and len(set(ids)) > 1
    if is_alone or any(claim is not None and claim.value is False for claim in unique):
        return next((identifier for identifier, _ in ids), "")
    return ""
