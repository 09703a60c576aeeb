"""What one exchange shows by itself: the values of claims, read from requests, replies and streams.

Rules report what departs from a claim. Here a claim is read from the exchange as a reader would read it, so that only
the value that was seen is counted.
"""

from collections.abc import Iterable, Mapping

from conformance.evidence.answers import answer_of
from conformance.evidence.observed import counts, refusals, replies, requests, streams
from conformance.evidence.observed.seen import Sight, View, fits
from conformance.profiles import UNKNOWN, Claims
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index

__all__ = ["Sight", "answered", "fits", "matching", "of"]


def of(
    conversation: tuple[Exchange, ...], number: int, index: Index, claims: Claims
) -> Mapping[str, tuple[Sight, ...]]:
    """Return what an exchange of a conversation shows, by claim; `claims` are those in force for it."""
    exchange = conversation[number]
    answer = answer_of(exchange)
    if answer is None:
        return {}
    view = View(number, exchange, index, not answer.rejected)
    seen: list[Iterable[Sight]] = [refusals.sights(view, answer, claims)]
    if not answer.rejected:
        seen += [
            requests.sights(view, claims),
            replies.sights(view, claims),
            streams.sights(view, claims),
            counts.sights(view),
        ]
    found: dict[str, list[Sight]] = {}
    for each in (sight for sights in seen for sight in sights):
        found.setdefault(each.claim, []).append(each)
    return {name: tuple(sights) for name, sights in found.items()}


def matching(seen: Mapping[str, tuple[Sight, ...]], claims: Claims) -> tuple[frozenset[str], frozenset[str]]:
    """Return the claims whose value was seen, and those of which another value was seen."""
    known = {name: claims[name] for name in seen if claims.get(name, UNKNOWN) != UNKNOWN}
    same = frozenset(name for name, claimed in known.items() if fits(claimed, seen[name]))
    other = frozenset(name for name in known if name not in same and not all(each.partial for each in seen[name]))
    return same, other


def answered(seen: Mapping[str, tuple[Sight, ...]], claims: Claims) -> frozenset[str]:
    """Return the claims about deviations that were answered without an error, if that does not show their value."""
    return frozenset(
        name
        for name, sights in seen.items()
        if claims.get(name) in (UNKNOWN, "ignored") and any("accepted" in each.values for each in sights)
    )
