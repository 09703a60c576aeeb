"""A run of `pytest --evidence recorded`: every rule about providers, on each recording of the public index."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from conformance import baseline, profiles
from conformance.baseline import RECORDINGS
from conformance.errors import Unusable
from conformance.evidence import index
from conformance.evidence.conversations import inputs
from conformance.evidence.fetching import Cache, Checked, State, cached
from conformance.evidence.index import IndexedRecording
from conformance.judge import check
from conformance.profiles import Profile
from conformance.results import PUBLIC_RECORDINGS, Evidence, Finding, Level, Outcome, Status
from conformance.results.record import ExchangesDigest, RunRecord, Selection, package_version
from conformance.results.runs import Case, Results
from conformance.rules import Rule, by_id, load
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wire.views import Side
from conformance.wires import translate

PLUGIN: Final = "conformance-recorded"
"""The name under which pytest knows the plugin that holds the run."""

_STREAM_RULES: Final = ("stream/", "native/stream-", "native/event-")
"""The rules that judge a stream begin so, on every wire."""

_MAX_FINDINGS: Final = 20
"""How many findings of a rule the results keep."""


class Played(NamedTuple):
    """One recording, with the outcome of each rule that applied to it."""

    recording: IndexedRecording
    outcomes: tuple[Outcome, ...]

    @property
    def name(self) -> str:
        """Return the name of the test item."""
        return f"{self.recording.digest}-{self.recording.model or 'unknown-model'}"


class RecordedRun:
    """Checks the recordings of one provider that the cache holds."""

    def __init__(
        self, provider: Profile | str, model: str = "", cache: Cache | None = None, *, strict: bool = False
    ) -> None:
        """Read and check the recordings, by default of every model; raises UnknownName, and Unusable without any."""
        self.profile = provider if isinstance(provider, Profile) else profiles.load_profile(provider)
        self.model = model
        self.strict = strict
        wanted = [each for each in index.load() if each.provider == self.profile.name and model in ("", each.model)]
        if not wanted:
            named = f"{self.profile.name}{f' with {model}' if model else ''}"
            raise Unusable(f"the index has no recordings of {named}")
        checked = list(cached(wanted, cache or Cache()))
        missing = [each for each in checked if each.state in (State.MISSING, State.DIFFERS)]
        if missing:
            fetch = f"conformance evidence fetch --provider {self.profile.name}"
            raise Unusable(f"{len(missing)} of {len(wanted)} recordings are not in the cache or differ; run `{fetch}`")
        self._checked = checked
        self._entries = baseline.load(recordings=True)

    @cached_property
    def played(self) -> tuple[Played, ...]:
        """Return each recording once, with its outcomes; one that occurs in several files is checked in the first."""
        known = {each.recording.digest: each.recording for each in reversed(self._checked)}
        found: dict[str, Played] = {}
        for given in inputs(self._checked):
            digests = self._digests(given.path, given.numbers)
            for number, digest in enumerate(digests):
                if digest not in found:
                    outcomes = _outcomes(given.conversation, number, self.profile)
                    found[digest] = Played(known[digest], outcomes)
        return tuple(found.values())

    def unexpected(self, level: Level) -> tuple[tuple[Played, Outcome], ...]:
        """Return the outcomes that failed at a level and that nothing explains."""
        found = [(each, outcome) for each in self.played for outcome in failed(each, level)]
        return tuple([(each, outcome) for each, outcome in found if not self.expected(each, outcome.rule)])

    def expected(self, played: Played, rule: str) -> str:
        """Return why a failure of a recording is expected: a baseline entry, or what was changed in the fixture."""
        recording = played.recording
        if recording.fixture and (not recording.is_partial or any(map(recording.is_altered, by_id()[rule].reads))):
            return recording.fixture
        entry = next((each for each in self._entries if each.covers(self._names(recording, rule))), None)
        return entry.reason if entry is not None else ""

    def stale(self) -> tuple[str, ...]:
        """Return what is wrong with the baseline's entries about rules about providers, of this provider.

        Each entry has to cover a recording, and not more of them than it says.
        """
        named = {f"{RECORDINGS}/{self.profile.name}/{rule.id}" for rule in _rules()}
        own = [each for each in self._entries if {each.match, each.match.rpartition("/")[0]} & named]
        broken = [
            self._names(played.recording, outcome.rule)
            for played in self.played
            for outcome in played.outcomes
            if outcome.status is Status.FAILED and (played.recording.is_partial or not played.recording.fixture)
        ]
        covered = [(entry, sum(entry.covers(names) for names in broken)) for entry in own]
        unused = [f"{entry.match}, which no recording shows" for entry, met in covered if not met and not entry.flaky]
        over = [
            f"{entry.match} {entry.max} times, got {met}"
            for entry, met in covered
            if entry.max is not None and met > entry.max
        ]
        return (*unused, *over)

    def _names(self, recording: IndexedRecording, rule: str) -> tuple[str, str]:
        bare = f"{RECORDINGS}/{self.profile.name}/{rule}"
        return bare, f"{bare}/{recording.digest}"

    def results(self) -> Results:
        """Return what the recordings show of each rule, plain and streamed; hand-written fixtures count for nothing."""
        real = [_unaltered(each) for each in self.played if each.recording.is_partial or not each.recording.fixture]
        cases = [
            Case(PUBLIC_RECORDINGS, variant, Evidence.RECORDED, tuple(_summed(held)))
            for variant, held in (
                ("plain", [each for each in real if not _is_streamed(each)]),
                ("stream", [each for each in real if _is_streamed(each)]),
            )
            if held
        ]
        sent = ExchangesDigest()
        for each in self.played:
            sent.add(each.recording.digest)
        selection = Selection(len(cases), len(cases), by=(f"--model {self.model}",) if self.model else ())
        # The recordings are of many days, and nothing was sent.
        record = RunRecord(
            package_version(), "", self.profile.wire, "", selection, requests=0, exchanges=sent.hexdigest()
        )
        return Results(self.profile.name, self.model or self.profile.model, tuple(cases), run=record)

    def exchanges(self) -> Iterator[tuple[IndexedRecording, Exchange]]:
        """Yield each recording with its exchange, without those of which the index says that they were changed."""
        for each in self._checked:
            if each.exchange is not None and not each.recording.fixture:
                yield each.recording, each.exchange.exchange

    @cached_property
    def _by_place(self) -> dict[tuple[str, int], Checked]:
        return {(str(each.recording.place), each.recording.number): each for each in self._checked}

    def _digests(self, place: str, numbers: Iterable[int]) -> list[str]:
        return [self._by_place[place, number].recording.digest for number in numbers]


def _outcomes(conversation: tuple[Exchange, ...], number: int, profile: Profile) -> tuple[Outcome, ...]:
    """Return the outcomes of the rules about providers for one exchange, after those before it in its file."""
    until = translate(conversation[: number + 1])
    elements = Index(until)
    found = []
    for outcome in check(until, profile, _rules()):
        if outcome.status is Status.ERRORED:
            found.append(outcome)
            continue
        findings = tuple([each for each in outcome.findings if f"{each.at}/".startswith(f"/{number}/")])
        judged = _judged(outcome, elements, number)
        if findings:
            level = max((each.level for each in findings), key=lambda each: each.severity)
            found.append(Outcome(outcome.rule, Status.FAILED, level, max(judged, 1), findings))
        elif judged:
            found.append(Outcome(outcome.rule, Status.PASSED, outcome.level, judged))
    return tuple(found)


def _rules() -> tuple[Rule, ...]:
    return tuple([rule for rule in load() if rule.on.side is Side.PROVIDER])


def _judged(outcome: Outcome, elements: Index, number: int) -> int:
    """Return how many elements of an exchange a rule looked at; none if it did not apply to the conversation."""
    if not outcome.judged:
        return 0
    own = [each for each in by_id()[outcome.rule].on.select(elements) if each.place[0] == number]
    return min(len(own), outcome.judged)


def _summed(played: Sequence[Played]) -> Iterator[Outcome]:
    """Yield one outcome per rule: failed if it failed in some recording; `judged` counts recordings."""
    by_rule: dict[str, list[tuple[Played, Outcome]]] = {}
    for each in played:
        for outcome in each.outcomes:
            by_rule.setdefault(outcome.rule, []).append((each, outcome))
    for rule, held in sorted(by_rule.items()):
        statuses = Counter(outcome.status for _, outcome in held)
        if statuses[Status.ERRORED]:
            yield next(outcome for _, outcome in held if outcome.status is Status.ERRORED)
            continue
        failed = [(each, outcome) for each, outcome in held if outcome.status is Status.FAILED]
        if not failed:
            yield Outcome(rule, Status.PASSED, held[0][1].level, len(held))
            continue
        level = max((outcome.level for _, outcome in failed), key=lambda each: each.severity)
        findings = [_placed(each.recording, outcome.findings[0]) for each, outcome in failed if outcome.level is level]
        yield Outcome(rule, Status.FAILED, level, len(held), tuple(findings[:_MAX_FINDINGS]))


def _placed(recording: IndexedRecording, finding: Finding) -> Finding:
    """Return a finding that says in which recording it is; what the recording holds is not repeated."""
    where = f"{recording.place} #{recording.number}, {recording.date}"
    return Finding(finding.at, f"{finding.message} ({where})", finding.level, side=finding.side)


def _unaltered(played: Played) -> Played:
    """Return a recording without the outcomes of rules about what was redacted in it or not recorded."""
    rules = by_id()
    kept = [each for each in played.outcomes if not any(map(played.recording.is_altered, rules[each.rule].reads))]
    return played._replace(outcomes=tuple(kept))


def _is_streamed(played: Played) -> bool:
    return any(outcome.rule.startswith(_STREAM_RULES) for outcome in played.outcomes)


def failed(played: Played, level: Level) -> list[Outcome]:
    """Return the outcomes of a recording that failed at a level, and those of rules that raised at MUST."""
    return [
        each
        for each in played.outcomes
        if (each.status is Status.FAILED and each.level is level)
        or (each.status is Status.ERRORED and level is Level.MUST)
    ]
