"""When and on which model the value of a claim was last seen in recordings of real traffic."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from conformance.evidence import index
from conformance.profiles import Profile
from conformance.results.calibration import entry_of


class LastSeen(NamedTuple):
    """The last recording that confirms a claim: its day (a prefix of ISO 8601) and its model; empty if not known."""

    day: str = ""
    model: str = ""


def last_seen(calibration: Mapping[str, Any], profile: Profile, name: str, model: str) -> LastSeen:
    """Return the last recording that shows the value that a claim has for a model today."""
    found = entry_of(calibration, profile, name, model)
    digests = calibration.get("exchanges", ())
    known = index.by_digest()
    numbers = found.get("confirmed", ()) if found else ()
    seen = [known[digests[number]] for number in numbers if number < len(digests) and digests[number] in known]
    return max([LastSeen(each.date, each.model) for each in seen], default=LastSeen())
