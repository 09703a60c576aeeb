"""What recordings show of each entry of a profile: the value of a claim, for a model section and a span of time."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

from conformance import profiles
from conformance.evidence import index
from conformance.evidence.index import Recording
from conformance.evidence.observations import Observation
from conformance.profiles import Claim
from conformance.results import Evidence
from conformance.results.calibration import entry

SHOWN: Final = "confirmed"
"""The exchange shows the value of the entry."""
AGAINST: Final = "contradicted"
"""The exchange breaks the entry, by a rule."""
ARTEFACT: Final = "artefacts"
"""The same, in a fixture that is not what the provider sent."""
OTHERWISE: Final = "otherwise"
"""The exchange shows another value, and no rule requires the one of the entry."""
ANSWERED: Final = "answered"
"""The exchange shows only that a deviation was answered without an error, as for the value `ignored`."""
KINDS: Final = (SHOWN, AGAINST, ARTEFACT, OTHERWISE, ANSWERED)


class EntryKey(NamedTuple):
    """One entry of a profile: `model` is the name of its section, empty for the claims of all models.

    `value` is its value as JSON text.
    """

    provider: str
    model: str
    claim: str
    since: str
    until: str
    value: str

    @classmethod
    def of(cls, provider: str, model: str, claim: Claim) -> "EntryKey":
        """Return the key of an entry in a section of a profile."""
        return cls(provider, model, claim.name, claim.since, claim.until, json_of(claim.value))


class Proof(NamedTuple):
    """What one exchange proves about an entry: `how` is one of `KINDS`, `reason` why a fixture is an artefact."""

    observation: Observation
    how: str
    reason: str = ""


def proofs(observations: Iterable[Observation]) -> Mapping[EntryKey, tuple[Proof, ...]]:
    """Return what exchanges prove about each entry of the profiles, in their order."""
    known = index.by_digest()
    found: dict[EntryKey, list[Proof]] = {}
    for observation in observations:
        if not observation.profile or observation.evidence is Evidence.SIMULATED:
            continue
        profile = profiles.load_profile(observation.profile)
        for name, proof in _proofs(observation, known.get(observation.digest)):
            section, claim = entry(profile, name, observation.model, observation.date)
            if claim is not None:
                found.setdefault(EntryKey.of(profile.name, section, claim), []).append(proof)
    return {key: tuple(held) for key, held in found.items()}


def _proofs(observation: Observation, recording: Recording | None) -> Iterator[tuple[str, Proof]]:
    """Yield what an exchange proves about each claim; an altered fixture confirms nothing, contradicts as artefact."""

    def is_altered(name: str) -> bool:
        return recording is not None and recording.is_altered(name)

    for how, names in (
        (SHOWN, observation.confirmed),
        (ANSWERED, observation.answered - observation.confirmed),
        (OTHERWISE, observation.otherwise),
    ):
        yield from ((name, Proof(observation, how)) for name in sorted(names) if not is_altered(name))
    for name in sorted(observation.contradicted):
        if recording is not None and is_altered(name):
            yield name, Proof(observation, ARTEFACT, recording.fixture)
        else:
            yield name, Proof(observation, AGAINST)


def json_of(value: Any) -> str:
    """Return a value as JSON text that is equal for equal values."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
