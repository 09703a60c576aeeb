"""What many judged exchanges come to: counts by provider, and the failures that a baseline may cover."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from conformance import profiles
from conformance.baseline import RECORDINGS, Entry, cover
from conformance.evidence.observations import BAD, Fault, Seen, Verdict
from conformance.profiles import UNKNOWN, UPSTREAM
from conformance.rule_ids import all_ids
from conformance.rules import load

_BEST_KNOWN: Final = (
    Verdict.FALSE,
    Verdict.REFUSED,
    Verdict.ACCEPTED,
    Verdict.OTHERWISE,
    Verdict.MISSED,
    Verdict.APART,
    Verdict.UNPLAYED,
)
"""Which verdict stands where one exchange was met alone and in its session: what the session adds makes it better."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that calibration found wrong: a refusal that did not fit, or a claim that a reply contradicts.

    `kind`: a bad verdict, or `claim contradicted`. `rule`: the one that found it, empty where none did. `at`: where, a
    JSON Pointer into the conversation at `ref`. `message` says what was expected and what came.
    """

    provider: str
    kind: str
    digest: str
    ref: str
    rule: str
    claims: tuple[str, ...]
    at: str
    message: str

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that an expected failure may match, each alone and with the recording's digest behind."""
        rules = all_ids(self.rule) if self.rule else (f"requests/{self.kind.replace(' ', '-')}",)
        subjects = (*rules, *self.claims)
        bare = [f"{RECORDINGS}/{self.provider}/{subject}" for subject in subjects]
        return (*bare, *(f"{name}/{self.digest}" for name in bare))

    def to_json(self) -> dict[str, Any]:
        """Return the failure as a JSON object."""
        return {
            "provider": self.provider,
            "kind": self.kind,
            "recording": self.digest,
            "ref": self.ref,
            "rule": self.rule,
            "claims": list(self.claims),
            "at": self.at,
            "message": self.message,
        }


class Tally:
    """Counts exchanges as they are judged; one that is met again, alone or in its session, counts once.

    `unreadable`: why an input could not be read. `others`: how many inputs hold no chat completions.
    """

    def __init__(self) -> None:
        self.unreadable: list[str] = []
        self.others = 0
        self._seen: dict[tuple[str, str], Seen] = {}

    def add(self, many: Iterable[Seen]) -> None:
        """Count judged exchanges."""
        for seen in many:
            key = seen.provider, seen.digest
            before = self._seen.get(key)
            self._seen[key] = seen if before is None else _merged(before, seen)

    def __len__(self) -> int:
        """Return how many exchanges were judged by a profile."""
        return sum(1 for seen in self._seen.values() if seen.profile)

    @property
    def errored(self) -> list[str]:
        """Return what rules broke on, each with where."""
        return [f"{seen.ref}: {error}" for seen in self._seen.values() for error in seen.errored]

    def failures(self) -> tuple[Failure, ...]:
        """Return everything that is false, missed or contradicted, by provider and in the order of the recordings."""
        found = [failure for seen in self._seen.values() for failure in _failures(seen)]
        return tuple(sorted(found, key=lambda each: each.provider))

    def evidence(self, provider: str) -> dict[str, Any]:
        """Return what the recordings say of a provider's claims: counts alone, the same for the same recordings.

        `unseen`: claims that nothing in the recordings put to the test. `unread`: those that no rule goes by.
        """
        mine = [seen for seen in self._seen.values() if seen.profile == provider]
        confirmed, contradicted = _counted(mine, "confirmed"), _counted(mine, "contradicted")
        tried = sorted({*confirmed, *contradicted})
        untried, read = sorted(_claimed(provider) - set(tried)), _read()
        claims = {name: {"confirmed": confirmed[name], "contradicted": contradicted[name]} for name in tried}
        return {
            "provider": provider,
            "recordings": len(mine),
            "requests": _verdicts(mine),
            "claims": claims,
            "unseen": [name for name in untried if name in read],
            "unread": [name for name in untried if name not in read],
        }

    def profiles(self) -> list[str]:
        """Return the providers that were judged by a profile, by name."""
        return sorted({seen.profile for seen in self._seen.values() if seen.profile})

    def to_json(self, entries: Sequence[Entry] = (), today: str = "") -> dict[str, Any]:
        """Return everything as one JSON object, the failures told apart by the baseline that is in force on a day."""
        covered = cover(self.failures(), entries, today)
        without = Counter(seen.provider for seen in self._seen.values() if not seen.profile)
        return {
            "providers": [self._provider(name) for name in self.profiles()],
            "without_profile": dict(sorted(without.items())),
            "others": self.others,
            "unreadable": len(self.unreadable),
            "failures": [failure.to_json() for failure in covered.unexpected],
            "expected": [failure.to_json() | {"reason": entry.reason} for failure, entry in covered.expected],
            "errored": self.errored,
        }

    def _provider(self, name: str) -> dict[str, Any]:
        mine = [seen for seen in self._seen.values() if seen.profile == name]
        apart = Counter(seen.cause for seen in mine if seen.verdict is Verdict.APART)
        departures = Counter(
            rule for seen in mine for rule in {fault.rule for fault in seen.faults if not fault.claims}
        )
        return self.evidence(name) | {
            "apart": dict(sorted(apart.items())),
            "answered": dict(sorted(_counted(mine, "answered").items())),
            "departures": dict(sorted(departures.items())),
        }


def _merged(left: Seen, right: Seen) -> Seen:
    """Return what is known of an exchange that was met twice."""
    best = min(left, right, key=lambda seen: _BEST_KNOWN.index(seen.verdict))
    contradicted = left.contradicted | right.contradicted
    faults = {(fault.rule, fault.message): fault for fault in (*right.faults, *left.faults)}
    return best._replace(
        ref=left.ref,
        confirmed=(left.confirmed | right.confirmed) - contradicted,
        contradicted=contradicted,
        answered=left.answered | right.answered,
        faults=tuple(faults.values()),
        errored=tuple(dict.fromkeys((*left.errored, *right.errored))),
    )


def _failures(seen: Seen) -> Iterator[Failure]:
    if seen.verdict in BAD:
        message = f"expected {seen.expected or 'no refusal'}, got {seen.got or 'an answer'}"
        claims = (seen.claim,) if seen.claim else ()
        yield Failure(seen.profile, seen.verdict.value, seen.digest, seen.ref, seen.rule, claims, seen.at, message)
    for fault in seen.faults:
        if fault.claims:
            yield _contradiction(seen, fault)


def _contradiction(seen: Seen, fault: Fault) -> Failure:
    return Failure(
        seen.profile, "claim contradicted", seen.digest, seen.ref, fault.rule, fault.claims, fault.at, fault.message
    )


def _counted(many: Iterable[Seen], member: str) -> Counter[str]:
    return Counter(name for seen in many for name in getattr(seen, member))


def _verdicts(many: Iterable[Seen]) -> Mapping[str, int]:
    counted = Counter(seen.verdict.value for seen in many)
    return {verdict.value: counted[verdict.value] for verdict in Verdict if counted[verdict.value]}


def _claimed(provider: str) -> set[str]:
    """Return the claims of a profile that say something, for any model at any time."""
    profile = profiles.load(provider)
    histories = [profile.claims, *(model.claims for model in profile.models)]
    return {
        name
        for claims in histories
        for name, history in claims.items()
        if any(claim.value not in (UNKNOWN, UPSTREAM) for claim in history)
    }


@cache
def _read() -> frozenset[str]:
    """Return the claims that rules go by."""
    return frozenset(name for rule in load() for name in rule.reads)
