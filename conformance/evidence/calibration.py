"""Calibration: real exchanges compared with the simulator's refusals and the profiles' claims.

Each recorded request is checked by the rules that make the simulator reject it, with the claims for the recording's
own model and day, and the result is compared with what the provider really answered. Each reply is checked with the
profile. A claim counts as tested only by an exchange that it applies to: a claim about replies if a rule read it while
it checked the reply, a claim about a deviation if the request has that deviation.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, islice
from typing import Any, Final

import orjson

from conformance import profiles
from conformance.baseline import RECORDINGS, Entry, cover
from conformance.errors import InvalidDocument, Unrecognized
from conformance.evidence.compared import WRONG, ComparedExchange, Comparison, Mismatch, observe
from conformance.evidence.entries import AGAINST, SHOWN, EntryKey, EntryProof, proofs
from conformance.evidence.index import by_digest
from conformance.files import AUTO, File, files_of
from conformance.formats import Input, read_path
from conformance.profiles import UNKNOWN, UPSTREAM
from conformance.results import Evidence
from conformance.rules import load

_REAL: Final = (Evidence.LIVE, Evidence.RECORDED)
"""The kinds of evidence that recordings of real traffic are."""

_BATCH: Final = 64
"""How many inputs a process takes at once."""

_BEST_KNOWN: Final = (
    Comparison.FALSE_POSITIVE,
    Comparison.REJECTED,
    Comparison.ACCEPTED,
    Comparison.OTHER_WORDS,
    Comparison.FALSE_NEGATIVE,
    Comparison.OUT_OF_SCOPE,
    Comparison.INCOMPLETE,
)
"""Which comparison counts if an exchange occurs alone and in its session: the one that knows more comes first."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that calibration found wrong: a refusal that did not fit, or a claim that a reply contradicts.

    `kind`: a wrong comparison, or `claim contradicted`. `rule`: the one that found it, empty if none did. `at`: a JSON
    Pointer into the conversation at `ref`. `message`: what was expected, and what was recorded.
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
        """Return the names that an expected failure may match, each without and with the recording's digest."""
        rule = self.rule or f"requests/{self.kind.replace(' ', '-')}"
        subjects = (rule, *self.claims)
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


class Calibration:
    """Compared exchanges; one that occurs twice, alone or in its session, counts once.

    `unreadable`: why an input could not be read. `others`: how many inputs hold no chat completions.
    """

    def __init__(self) -> None:
        self.unreadable: list[str] = []
        self.others = 0
        self._exchanges: dict[tuple[str, str], ComparedExchange] = {}

    def add(self, exchanges: Iterable[ComparedExchange]) -> None:
        """Count compared exchanges."""
        for exchange in exchanges:
            key = exchange.provider, exchange.digest
            before = self._exchanges.get(key)
            self._exchanges[key] = exchange if before is None else _merged(before, exchange)

    def __len__(self) -> int:
        """Return how many exchanges were compared with a profile."""
        return sum(1 for exchange in self._exchanges.values() if exchange.profile)

    @property
    def errored(self) -> list[str]:
        """Return why rules raised, each with the path of the recording."""
        return [f"{found.ref}: {error}" for found in self._exchanges.values() for error in found.errored]

    def failures(self) -> tuple[Failure, ...]:
        """Return everything that is wrong, by provider and in the order of the recordings, but not in the artefacts."""
        return tuple([failure for failure in self._all_failures() if not _artefact(failure)])

    def artefacts(self) -> tuple[tuple[Failure, str], ...]:
        """Return what is wrong only because a fixture is not what the provider sent, each with the reason."""
        return tuple([(failure, reason) for failure in self._all_failures() if (reason := _artefact(failure))])

    def _all_failures(self) -> list[Failure]:
        real = [found for found in self._exchanges.values() if found.evidence in _REAL]
        found = [failure for exchange in real for failure in _failures(exchange)]
        return sorted(found, key=lambda failure: failure.provider)

    def evidence(self, provider: str) -> dict[str, Any]:
        """Return what the recordings show about a provider's claims; the same for the same recordings.

        `exchanges`: the digest of each. `claims`: one object per entry of the profile, with its value; what exchanges
        show about it are lists of positions in `exchanges`. `artefacts` are pairs of a position and the reason.
        `engine`: how many exchanges with a real server and a scripted model confirm the entry.
        `simulated`: how many exchanges were the simulator's, which confirm nothing. `unseen`: claims that no recording
        tests. `unread`: claims that no rule reads.
        """
        mine = self._of(provider)
        real = [found for found in mine if found.evidence in _REAL]
        positions = {found.digest: number for number, found in enumerate(real)}
        claims = [_entry(key, held, positions) for key, held in sorted(proofs(mine).items())]
        tested = {each["claim"] for each in claims if each.keys() & {SHOWN, AGAINST, Evidence.ENGINE.value}}
        reference = mine[0].profile if mine else provider
        untested, read = sorted(_claimed(reference) - tested), _read()
        return {
            "provider": provider,
            "recordings": len(real),
            "engine": sum(found.evidence is Evidence.ENGINE for found in mine),
            "simulated": sum(found.evidence is Evidence.SIMULATED for found in mine),
            "requests": _comparisons(real),
            "exchanges": [found.digest for found in real],
            "claims": claims,
            "unseen": [name for name in untested if name in read],
            "unread": [name for name in untested if name not in read],
        }

    def profiles(self) -> list[str]:
        """Return the providers with a profile, by name."""
        return sorted({found.provider for found in self._exchanges.values() if found.profile})

    def to_json(self, entries: Sequence[Entry] = (), today: str = "") -> dict[str, Any]:
        """Return everything as one JSON object, the failures split by the baseline that is in force on a day."""
        covered = cover(self.failures(), entries, today)
        without = Counter(found.provider for found in self._exchanges.values() if not found.profile)
        return {
            "providers": [self._provider(name) for name in self.profiles()],
            "without_profile": dict(sorted(without.items())),
            "others": self.others,
            "unreadable": len(self.unreadable),
            "failures": [failure.to_json() for failure in covered.unexpected],
            "expected": [failure.to_json() | {"reason": entry.reason} for failure, entry in covered.expected],
            "artefacts": [failure.to_json() | {"reason": reason} for failure, reason in self.artefacts()],
            "errored": self.errored,
        }

    def _provider(self, name: str) -> dict[str, Any]:
        mine = [found for found in self._of(name) if found.evidence in _REAL]
        causes = Counter(found.cause for found in mine if found.comparison is Comparison.OUT_OF_SCOPE)
        departures = Counter(
            rule for found in mine for rule in {mismatch.rule for mismatch in found.mismatches if not mismatch.claims}
        )
        return self.evidence(name) | {
            "out_of_scope": dict(sorted(causes.items())),
            "departures": dict(sorted(departures.items())),
        }

    def _of(self, provider: str) -> list[ComparedExchange]:
        return [found for found in self._exchanges.values() if found.profile and found.provider == provider]


def calibrate(
    paths: Iterable[str], provider: str = AUTO, jobs: int = 1, recordings: Iterable[Input] = ()
) -> Calibration:
    """Compare every exchange below the paths with a provider's profile, by default that of the provider in the input.

    `recordings` are further inputs, such as those of the index. `jobs` is the number of processes. Raises UnknownName
    if there is no such provider, before anything is read. What cannot be read is listed in the result; the rest is
    compared all the same.
    """
    name = "" if provider == AUTO else profiles.load_profile(provider).reference
    calibration = Calibration()
    found = (given for path in paths for file in files_of(path) for given in _inputs(file))
    inputs = _readable(chain(recordings, found), calibration)
    batches = iter(lambda: list(islice(inputs, _BATCH)), [])
    observed = _in_processes(batches, name, jobs) if jobs > 1 else (_observe(batch, name) for batch in batches)
    for exchanges in observed:
        calibration.add(exchanges)
    return calibration


def _inputs(file: File) -> Iterator[Input]:
    """Yield the inputs of a file; if it is damaged, the last one holds the problem."""
    try:
        yield from read_path(file.path)
    except InvalidDocument as error:
        if not (file.found and isinstance(error, Unrecognized)):
            yield Input(str(file.path), error.line, "unrecognized", problem=error)


def _readable(inputs: Iterable[Input], calibration: Calibration) -> Iterator[Input]:
    """Yield the inputs that hold chat completions, and count the others."""
    for given in inputs:
        if given.problem is not None:
            calibration.unreadable.append(str(given.problem))
        elif given.conversation:
            yield given
        else:
            calibration.others += 1


def _observe(batch: list[Input], provider: str) -> list[ComparedExchange]:
    return [exchange for given in batch for exchange in observe(given, provider)]


def _in_processes(batches: Iterable[list[Input]], provider: str, jobs: int) -> Iterator[list[ComparedExchange]]:
    """Compare in processes, in order; reads ahead only as much as keeps all of them busy."""
    # Imported here because one process needs none of it.
    from conformance.processes.workers import in_order, worker_pool

    with worker_pool(jobs) as pool:
        yield from in_order(pool, partial(_observe, provider=provider), batches, ahead=2 * jobs)


def _merged(left: ComparedExchange, right: ComparedExchange) -> ComparedExchange:
    """Return one result for an exchange that occurs twice."""
    best = min(left, right, key=lambda found: _BEST_KNOWN.index(found.comparison))
    contradicted = left.contradicted | right.contradicted
    mismatches = {(found.rule, found.message): found for found in (*right.mismatches, *left.mismatches)}
    return best._replace(
        ref=left.ref,
        confirmed=(left.confirmed | right.confirmed) - contradicted,
        contradicted=contradicted,
        answered=left.answered | right.answered,
        otherwise=(left.otherwise | right.otherwise) - contradicted,
        mismatches=tuple(mismatches.values()),
        errored=tuple(dict.fromkeys((*left.errored, *right.errored))),
    )


def _failures(found: ComparedExchange) -> Iterator[Failure]:
    if found.comparison in WRONG:
        message = f"expected {found.expected or 'no refusal'}, got {found.got or 'an answer'}"
        claims = (found.claim,) if found.claim else ()
        yield Failure(
            found.provider, found.comparison.value, found.digest, found.ref, found.rule, claims, found.at, message
        )
    for mismatch in found.mismatches:
        if mismatch.claims:
            yield _contradiction(found, mismatch)


def _contradiction(found: ComparedExchange, mismatch: Mismatch) -> Failure:
    rule, at, message, claims = mismatch
    return Failure(found.provider, "claim contradicted", found.digest, found.ref, rule, claims, at, message)


def _artefact(failure: Failure) -> str:
    """Return why a failure is an artefact of a fixture; empty if it is not."""
    recording = by_digest().get(failure.digest)
    about = failure.claims or ("",)
    return recording.fixture if recording is not None and any(map(recording.is_altered, about)) else ""


def _entry(key: EntryKey, held: Sequence[EntryProof], positions: Mapping[str, int]) -> dict[str, Any]:
    """Return what proves or disproves one entry, as a JSON object; kinds that do not occur have no member."""
    times = {name: value for name in ("since", "until") if (value := getattr(key, name))}
    about = {"claim": key.claim, "model": key.model, **times, "value": orjson.loads(key.value)}
    real = [each for each in held if each.exchange.evidence in _REAL]
    found: dict[str, list[Any]] = {}
    for each in real:
        position = positions[each.exchange.digest]
        found.setdefault(each.how, []).append([position, each.reason] if each.reason else position)
    engine = sum(each.how == SHOWN for each in held if each.exchange.evidence is Evidence.ENGINE)
    return about | found | ({Evidence.ENGINE.value: engine} if engine else {})


def _comparisons(exchanges: Iterable[ComparedExchange]) -> Mapping[str, int]:
    counted = Counter(found.comparison.value for found in exchanges)
    return {comparison.value: counted[comparison.value] for comparison in Comparison if counted[comparison.value]}


def _claimed(provider: str) -> set[str]:
    """Return the claims of a profile whose value is known, for any model at any time."""
    profile = profiles.load_profile(provider)
    histories = [profile.claims, *(model.claims for model in profile.models)]
    return {
        name
        for claims in histories
        for name, history in claims.items()
        if any(claim.value not in (UNKNOWN, UPSTREAM) for claim in history)
    }


@cache
def _read() -> frozenset[str]:
    """Return the claims that rules read."""
    return frozenset(name for rule in load() for name in rule.reads)
