"""What recordings show of each entry of a profile: the value of a claim, for a model section and a span of time."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

from conformance import profiles
from conformance.evidence import index
from conformance.evidence.compared import ComparedExchange
from conformance.evidence.index import IndexedRecording
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


class EntryProof(NamedTuple):
    """What one exchange proves about an entry: `how` is one of `KINDS`, `reason` why a fixture is an artefact."""

    exchange: ComparedExchange
    how: str
    reason: str = ""


def proofs(exchanges: Iterable[ComparedExchange]) -> Mapping[EntryKey, tuple[EntryProof, ...]]:
    """Return what exchanges prove about each entry of the profiles, in their order."""
    known = index.by_digest()
    found: dict[EntryKey, list[EntryProof]] = {}
    for exchange in exchanges:
        if not exchange.profile or exchange.evidence is Evidence.SIMULATED:
            continue
        profile = profiles.load_profile(exchange.profile)
        for name, proof in _proofs(exchange, known.get(exchange.digest)):
            section, claim = entry(profile, name, exchange.model, exchange.date)
            if claim is not None:
                found.setdefault(EntryKey.of(profile.name, section, claim), []).append(proof)
    return {key: tuple(held) for key, held in found.items()}


def _proofs(exchange: ComparedExchange, recording: IndexedRecording | None) -> Iterator[tuple[str, EntryProof]]:
    """Yield what an exchange proves about each claim; an altered fixture confirms nothing, contradicts as artefact."""

    def is_altered(name: str) -> bool:
        return recording is not None and recording.is_altered(name)

    for how, names in (
        (SHOWN, exchange.confirmed),
        (ANSWERED, exchange.answered - exchange.confirmed),
        (OTHERWISE, exchange.otherwise),
    ):
        yield from ((name, EntryProof(exchange, how)) for name in sorted(names) if not is_altered(name))
    for name in sorted(exchange.contradicted):
        if recording is not None and is_altered(name):
            yield name, EntryProof(exchange, ARTEFACT, recording.fixture)
        else:
            yield name, EntryProof(exchange, AGAINST)


def json_of(value: Any) -> str:
    """Return a value as JSON text that is equal for equal values."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
