"""Which recordings show which entry of a profile: the value of a claim, for a model section and a span of time."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

from conformance import profiles
from conformance.evidence import index
from conformance.evidence.index import Recording
from conformance.evidence.observations import Observation
from conformance.profiles import Claim, Profile

SHOWN: Final = "shown"
"""The exchange shows the value itself."""
ANSWERED: Final = "answered"
"""The exchange shows only that the deviation was answered without an error, as for the value `ignored`."""


class EntryKey(NamedTuple):
    """One entry of a profile: `model` is the name of its section, empty for the claims of all models."""

    provider: str
    model: str
    claim: str
    since: str
    until: str
    value: str

    @classmethod
    def of(cls, provider: str, model: str, claim: Claim) -> "EntryKey":
        """Return the key of an entry; `value` is its JSON."""
        return cls(provider, model, claim.name, claim.since, claim.until, json_of(claim.value))


class Support(NamedTuple):
    """A recording that supports an entry of a profile; `how` is SHOWN or ANSWERED."""

    recording: Recording
    how: str


def supports(observations: Iterable[Observation]) -> Mapping[EntryKey, tuple[Support, ...]]:
    """Return the recordings of the index that support each entry of the profiles, the latest first."""
    known = index.by_digest()
    found: dict[EntryKey, list[Support]] = {}
    for observation in observations:
        recording = known.get(observation.digest)
        if recording is None or not observation.profile:
            continue
        profile = profiles.load(observation.profile)
        for how, names in ((SHOWN, observation.confirmed), (ANSWERED, observation.answered)):
            for name in sorted(name for name in names if not recording.is_altered(name)):
                section, claim = entry(profile, name, observation.model, observation.date)
                if claim is not None:
                    key = EntryKey.of(profile.name, section, claim)
                    found.setdefault(key, []).append(Support(recording, how))
    return {key: tuple(sorted(held, key=_newest, reverse=True)) for key, held in found.items()}


def entry(profile: Profile, name: str, model: str, date: str) -> tuple[str, Claim | None]:
    """Return the entry that holds for a model on a day, and the name of its section of the profile."""
    claim = profile.claim(name, model, date)
    sections = [(each.name, each.claims) for each in profile.models if each.matches(model.lower())]
    held = [section for section, claims in (*sections, ("", profile.claims)) if claim in claims.get(name, ())]
    return (held[0] if held else ""), claim


def rows(found: Mapping[EntryKey, tuple[Support, ...]], most: int) -> Iterator[dict[str, Any]]:
    """Yield one JSON object per entry: its key, how many recordings support it, and the first places."""
    for key, held in sorted(found.items()):
        yield {
            "provider": key.provider,
            "model": key.model,
            "claim": key.claim,
            "since": key.since,
            "until": key.until,
            "value": orjson.loads(key.value),
            "shown": sum(each.how == SHOWN for each in held),
            "answered": sum(each.how == ANSWERED for each in held),
            "places": [_row(each) for each in _spread(held)[:most]],
        }


def _spread(held: Iterable[Support]) -> list[Support]:
    """Return supports so that each repository comes once before any comes twice."""
    by_repository: dict[str, list[Support]] = {}
    for each in held:
        by_repository.setdefault(each.recording.place.repository, []).append(each)
    ranked = [(rank, each) for listed in by_repository.values() for rank, each in enumerate(listed)]
    return [each for _, each in sorted(ranked, key=lambda ranked_one: ranked_one[0])]


def _row(support: Support) -> dict[str, Any]:
    recording = support.recording
    return {
        "place": str(recording.place),
        "number": recording.number,
        "model": recording.model,
        "date": recording.date,
        "status": recording.status,
        "how": support.how,
    }


def _newest(support: Support) -> tuple[bool, str, str, int]:
    recording = support.recording
    return support.how == SHOWN, recording.date, str(recording.place), recording.number


def json_of(value: Any) -> str:
    """Return a value as JSON text that is equal for equal values."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
