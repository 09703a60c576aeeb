"""What the last calibration counted: how many recordings show the value of an entry of a profile."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from conformance.documents import read_json
from conformance.profiles import Claim, Profile
from conformance.resources import folder, unpacked


class RecordingCounts(NamedTuple):
    """How many recordings of real traffic show the value of one entry of a profile.

    `confirmed`: they show it. `contradicted`: they break it. `artefacts`: they break it only because a fixture is not
    what the provider sent, for `reasons`. `otherwise`: they show another value, which no rule forbids. `answered`: they
    show only that a deviation was answered without an error. `engine`: how many exchanges with a real open-source
    server and a scripted model show the value.
    """

    confirmed: int = 0
    contradicted: int = 0
    artefacts: int = 0
    reasons: tuple[str, ...] = ()
    otherwise: int = 0
    answered: int = 0
    engine: int = 0


_HELD: Final = ("model", "since", "until", "value")
"""The members of an entry, beside the name of its claim, that tell which entry of the profile it is about."""


def calibration_of(profile: Profile) -> Mapping[str, Any]:
    """Return the last calibration of a provider on its wire; empty if there is none."""
    path = unpacked(folder("reports") / "results" / "calibration") / f"{profile.name}.json"
    found: Any = read_json(path) if path.exists() else {}
    return found if isinstance(found, dict) else {}


def counts(evidence: Mapping[str, Any], profile: Profile, name: str, model: str) -> RecordingCounts:
    """Return the counts for the entry of a claim that holds for a model today, by the calibration of its provider.

    Counts are only those of the same value: if the entry has changed since the calibration, nothing was counted.
    """
    found = entry_of(evidence, profile, name, model)
    if found is None:
        return RecordingCounts()
    artefacts = found.get("artefacts", ())
    return RecordingCounts(
        confirmed=len(found.get("confirmed", ())),
        contradicted=len(found.get("contradicted", ())),
        artefacts=len(artefacts),
        reasons=tuple(dict.fromkeys(reason for _, reason in artefacts)),
        otherwise=len(found.get("otherwise", ())),
        answered=len(found.get("answered", ())),
        engine=found.get("engine", 0),
    )


def entry_of(evidence: Mapping[str, Any], profile: Profile, name: str, model: str) -> Mapping[str, Any] | None:
    """Return what a calibration holds about the entry of a claim that holds for a model today; None if nothing."""
    section, claim = entry(profile, name, model, "")
    if claim is None:
        return None
    wanted = section, claim.since, claim.until, claim.value
    for each in evidence.get("claims", ()):
        # The name first: reports ask this for every claim of every model, and few entries have it.
        if each.get("claim") == name and wanted == tuple([each.get(key, "") for key in _HELD]):
            found: Mapping[str, Any] = each
            return found
    return None


def entry(profile: Profile, name: str, model: str, date: str) -> tuple[str, Claim | None]:
    """Return the entry that holds for a model on a day, and the name of its section of the profile."""
    claim = profile.claim(name, model, date)
    held = [each for each in profile.models if claim in each.claims.get(name, ())]
    return next((each.name for each in held if each.matches(model.lower())), ""), claim
