"""When, how often and on which models the value of a claim was seen in recordings of real traffic."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from conformance.evidence import index
from conformance.evidence.index import IndexedRecording
from conformance.profiles import Profile
from conformance.results.calibration import entry_of


class LastSeen(NamedTuple):
    """The last recording that confirms a claim: its day (a prefix of ISO 8601) and its model; empty if not known."""

    day: str = ""
    model: str = ""


class Month(NamedTuple):
    """How many recordings of a month confirm a claim, contradict it, and show another value that no rule forbids."""

    month: str
    confirmed: int = 0
    contradicted: int = 0
    otherwise: int = 0


def last_seen(calibration: Mapping[str, Any], profile: Profile, name: str, model: str) -> LastSeen:
    """Return the last recording that shows the value that a claim has for a model today."""
    seen = [LastSeen(each.date, each.model) for each in _confirming(calibration, profile, name, model)]
    return max(seen, default=LastSeen())


def by_month(calibration: Mapping[str, Any], profile: Profile, name: str, model: str) -> tuple[Month, ...]:
    """Return what recordings show of the value that a claim has for a model today, month by month."""
    entry = entry_of(calibration, profile, name, model) or {}
    counted = {kind: _months(calibration, entry.get(kind, ())) for kind in Month._fields[1:]}
    months = sorted({month for each in counted.values() for month in each})
    return tuple([Month(month, *[each[month] for each in counted.values()]) for month in months])


def of_models(calibration: Mapping[str, Any], profile: Profile, name: str, model: str) -> Mapping[str, int]:
    """Return how many recordings of each model confirm the value that a claim has for a model today."""
    return Counter([each.model for each in _confirming(calibration, profile, name, model)])


def _confirming(calibration: Mapping[str, Any], profile: Profile, name: str, model: str) -> Iterator[IndexedRecording]:
    entry = entry_of(calibration, profile, name, model) or {}
    yield from _recordings(calibration, entry.get("confirmed", ()))


def _months(calibration: Mapping[str, Any], numbers: Iterable[int]) -> Mapping[str, int]:
    return Counter([each.date[:7] for each in _recordings(calibration, numbers)])


def _recordings(calibration: Mapping[str, Any], numbers: Iterable[int]) -> Iterator[IndexedRecording]:
    digests, known = index.digests(calibration.get("exchanges", ())), index.by_digest()
    for number in numbers:
        if number < len(digests) and digests[number] in known:
            yield known[digests[number]]
