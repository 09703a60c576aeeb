"""Checks the inputs in a file for one task, and returns the JSON object of a report for each."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from conformance import profiles, rules, wires
from conformance.errors import InvalidDocument, Unrecognized
from conformance.files.broken_lines import BrokenLines
from conformance.files.report_objects import add_lines, encodable, finding_object, input_object
from conformance.files.unrelated import related
from conformance.formats import Input, read_path
from conformance.judge import Judgement, judge, presumed_wire
from conformance.profiles import Profile
from conformance.results import Finding, Level, Outcome, Status
from conformance.rules import Rule
from conformance.wire.exchange import Conversation
from conformance.wire.views import requests

if TYPE_CHECKING:
    from conformance.files.recognition import Recognition
    from conformance.files.timings import Stopwatch

T = TypeVar("T")

AUTO: Final = "auto"
"""The provider argument that means: recognise the provider of each input."""

SUFFIXES: Final = (
    ".json",
    ".jsonl",
    ".ndjson",
    ".har",
    ".yaml",
    ".yml",
    ".sse",
    ".log",
    ".httprr",
    ".parquet",
    ".csv",
    ".tsv",
    ".traj",
    ".flow",
    ".db",
)
"""The suffixes of files that are read from folders, each also with `.gz`, `.zst` or `.br` appended."""

NONE: Final = "none"
"""The provider argument that means: check the canonical wire alone."""

RECOGNISED: Final = "recognised"
"""The group of counts of the inputs that were recognised, by provider; the empty name counts the others."""

STDIN: Final = Path("/dev/stdin")

Counts: TypeAlias = Counter[tuple[str, str]]
"""What was counted: `("findings", "MUST")`, `("sides", "client")`, `("inputs", "")` …"""


class Task(NamedTuple):
    """What to check and what to report.

    `provider`: what names a profile, `auto`, or empty for the canonical wire alone. `rules`: globs of ids; empty means
    all. `level`: the lowest level to report. `show_all`: also report outcomes without findings. `lines`: report the
    line of each finding in a file that is one JSON value, which requires reading the file again. `as_of`: the ISO 8601
    day whose claims hold; empty means the day of each exchange. `known`: also report the departures that claims
    describe. `fields`: the map of `--map`, empty to recognise formats. `fixes`: report the patch for each finding about
    a client. `corrects`: also return the input with its requests corrected, and how they differ. `timings`: also count
    where the time goes.
    """

    provider: str = ""
    rules: tuple[str, ...] = ()
    level: Level = Level.MAY
    show_all: bool = False
    lines: bool = False
    as_of: str = ""
    known: bool = False
    fields: str = ""
    fixes: bool = False
    corrects: bool = False
    timings: bool = False


class CheckedInput(NamedTuple):
    """One checked input, as plain data, to be sent between processes.

    `report`: its JSON object in the report. `judged`: the ids of the rules that found something to judge. `corrected`:
    the input with its requests corrected, as lines of JSON.
    """

    report: dict[str, Any]
    counts: Counts
    judged: Sequence[str] = ()
    corrected: Sequence[bytes] = ()


class File(NamedTuple):
    """A file to check.

    `found`: whether it was found in a folder, where files of something else are skipped. `unrelated`: whether it is one
    of these, so that it is not even opened.
    """

    path: Path
    found: bool = False
    unrelated: bool = False


class Checker:
    """Checks files and inputs for one task."""

    def __init__(self, task: Task) -> None:
        self.rules = rules.select(task.rules) if task.rules else rules.of_traffic()
        self._watch = _stopwatch() if task.timings else None
        if self._watch is not None:
            self.rules = self._watch.timed(self.rules)
        # A bare list of messages is read as a request without a model, which is not the sender's omission.
        self._message_rules = tuple([rule for rule in self.rules if not (rule.by_schema and rule.on is requests)])
        self._task = task
        if task.fields:
            # Imported here because most calls have none; one that is wrong is an error before anything is read.
            from conformance.formats import mapped

            mapped.parse(task.fields)
        if task.provider not in ("", AUTO):
            # An unknown name is an error before anything is read.
            profiles.load_profile(task.provider)

    def file(self, file: File) -> Iterator[CheckedInput]:
        """Check the inputs in a file; if it becomes unreadable, the inputs before that still count."""
        if file.unrelated:
            yield _skipped(file.path)
            return
        broken = BrokenLines()
        try:
            inputs = self.read(read_path(file.path, self._task.fields))
            for given in related(inputs) if file.found else inputs:
                if not broken.add(given):
                    yield self.input(given)
        except InvalidDocument as error:
            pasted = pasted_error(file, error)
            yield failed_file(file, error) if pasted is None else self.input(pasted)
        yield from map(self.input, broken.close())

    def read(self, inputs: Iterator[T]) -> Iterator[T]:
        """Return inputs that are measured as they are read, if the task wants it."""
        return inputs if self._watch is None else self._watch.reading(inputs)

    def spent(self) -> Counts:
        """Return what was measured beside the inputs that were checked, as counts."""
        return Counter() if self._watch is None else self._watch.take()

    def input(self, given: Input) -> CheckedInput:
        """Check one input."""
        if self._watch is None:
            return self._checked(given, _no_lap)
        self._watch.measure(given.conversation)
        checked = self._checked(given, self._watch.lap)
        checked.counts.update(self._watch.take())
        return checked

    def _checked(self, given: Input, lap: Callable[[str], None]) -> CheckedInput:
        if given.problem is not None:
            return _unreadable(given.path, given.problem)
        seen = self._recognised(given)
        profile = self._profile(given, seen)
        chosen = self._rules_for(given)
        lap("recognising providers")
        conversation = wires.translate(given.conversation, presumed_wire(profile))
        lap("translating wires")
        judging = judge if self._watch is None else self._watch.judge
        judgement = judging(conversation, profile, chosen, self._task.as_of)
        counts: Counts = Counter({("inputs", ""): 1, ("exchanges", ""): len(given.conversation)})
        days, notes = self._by_day(given, profile)
        if conversation is not given.conversation:
            # Imported here because most files hold chat completions only.
            from conformance.files.recognition import usual_wire
            from conformance.wire.unseen import unseen

            notes += unseen(conversation) + (usual_wire(given) if profile is None else [])
        counts.update([("as_of", f"{profile.name} {day}") for day in days] if profile is not None else ())
        # Most rules find nothing, and have no outcome unless all are to be shown.
        outcomes = judgement.outcomes() if self._task.show_all else tuple(judgement.found())
        counts.update(_known_counts(outcomes, profile))
        reported = [each for outcome in outcomes if (each := self._outcome(outcome, counts)) is not None]
        if seen is not None:
            counts.update([(RECOGNISED, each) for each in seen.providers or ("",)])
            if not seen.providers and not seen.host:
                lap("report")
                reported = self._by_model(conversation, chosen, reported, counts, notes)
                lap("hosts of the model")
        elif profile is not None and (warning := _contradiction(given, profile)):
            notes.append(warning)
        if self._task.lines and any(outcome["findings"] or outcome.get("known") for outcome in reported):
            add_lines(given, reported)
        report = input_object(given, profile, days, notes, reported) | {"protocol": _protocols(conversation)}
        if seen is not None and seen.providers:
            report["recognised"] = {"providers": list(seen.providers), "by": seen.by}
        lap("report")
        corrected = self._fixed(given, profile, judgement, report) if self._task.fixes or self._task.corrects else ()
        lap("fixes")
        return CheckedInput(report, counts, judgement.judged(), corrected)

    def _by_model(
        self,
        conversation: Conversation,
        chosen: Sequence[Rule],
        outcomes: list[dict[str, Any]],
        counts: Counts,
        notes: list[str],
    ) -> list[dict[str, Any]]:
        """Return the outcomes with what the hosts that serve the model reject, if nothing shows which host it is."""
        # Imported here because it loads the profiles of all these hosts.
        from conformance.files.by_model import as_outcomes, judge_by_model

        served = judge_by_model(conversation, chosen, self._task.as_of)
        if served is None:
            return outcomes
        notes.append(served.line)
        added = as_outcomes(served, outcomes)
        for finding in [each for outcome in added for each in outcome["findings"]]:
            counts["findings", finding["level"]] += 1
            counts["sides", finding["side"]] += 1
        if added and Level(added[0]["level"]).severity < self._task.level.severity:
            counts["hidden", ""] += sum(len(outcome["findings"]) for outcome in added)
            return outcomes
        return [*outcomes, *added]

    def _fixed(
        self, given: Input, profile: Profile | None, judgement: Judgement, report: dict[str, Any]
    ) -> Sequence[bytes]:
        """Add the fixes of the findings about the client to a report; return the corrected input, if it is wanted."""
        # Imported here because most runs fix nothing.
        from conformance.files.fixing import FixMode, add_fixes

        mode = FixMode(each=self._task.fixes, whole=self._task.corrects, lines=self._task.lines)
        return add_fixes(
            given, profile, self._rules_for(given), self._task.as_of, tuple(judgement.found()), report, mode
        )

    def _rules_for(self, given: Input) -> Sequence[Rule]:
        """Return the rules for which an input holds enough."""
        chosen = self._message_rules if given.kind == "messages" else self.rules
        return _limited(tuple(chosen), given.rules) if given.rules else chosen

    def _by_day(self, given: Input, profile: Profile | None) -> tuple[list[str], list[str]]:
        """Return the days whose claims hold for the exchanges of an input, and notes on models not served then."""
        if profile is None:
            return [], []
        asked = {(self._task.as_of or each.date or profile.as_of, each.model) for each in given.conversation}
        ended = sorted([(model, day) for day, model in asked if not _is_served(profile, model, day)])
        notes = [f"{profile.name} does not serve the model {model!r} on {day}" for model, day in ended]
        return sorted({day for day, _ in asked}), notes

    def _recognised(self, given: Input) -> "Recognition | None":
        """Return which providers an input may be from; None if that is not asked, or it holds nothing."""
        if self._task.provider != AUTO or not given.conversation:
            return None
        # Imported here, as below, because a check with --provider none needs none of it.
        from conformance.files.recognition import recognise

        return recognise(given)

    def _profile(self, given: Input, seen: "Recognition | None") -> Profile | None:
        if not self._task.provider:
            return None
        from conformance.files.recognition import chosen_profile, profile_of

        return chosen_profile(given, self._task.provider) if seen is None else profile_of(given, seen)

    def _outcome(self, outcome: Outcome, counts: Counts) -> dict[str, Any] | None:
        """Count an outcome and return its JSON object, or None if the task does not report it."""
        if outcome.status is Status.FAILED:
            return self._failed_outcome(outcome, counts)
        if outcome.status is Status.ERRORED:
            counts["errored", ""] += 1
        is_shown = self._task.show_all or outcome.status is Status.ERRORED or (self._task.known and outcome.known)
        return self._outcome_json(outcome) if is_shown else None

    def _failed_outcome(self, outcome: Outcome, counts: Counts) -> dict[str, Any] | None:
        for finding in outcome.findings:
            counts["findings", finding.level.value] += 1
            counts["sides", finding.side] += 1
            counts["hidden", ""] += not self._is_reported(finding)
        is_shown = self._task.show_all or (self._task.known and outcome.known)
        if not is_shown and not any(map(self._is_reported, outcome.findings)):
            return None
        return self._outcome_json(outcome)

    def _outcome_json(self, outcome: Outcome) -> dict[str, Any]:
        """Return the JSON object of an outcome, with what the task reports of it; `known` only if that is not empty."""
        shown = outcome.to_json() | {
            "findings": [finding_object(each) for each in outcome.findings if self._is_reported(each)]
        }
        known = [finding_object(each) for each in outcome.known] if self._task.known else []
        return shown | ({"known": known} if known else {})

    def _is_reported(self, finding: Finding) -> bool:
        return finding.level.severity >= self._task.level.severity


def _stopwatch() -> "Stopwatch":
    # Imported here because most runs measure nothing.
    from conformance.files.timings import Stopwatch

    return Stopwatch()


def _no_lap(_stage: str) -> None:
    """Measure nothing."""


def _known_counts(outcomes: Sequence[Outcome], profile: Profile | None) -> Counts:
    """Return how many departures each claim of a profile describes, by rule."""
    counts: Counts = Counter()
    for outcome in outcomes:
        for claim, count in outcome.known_counts.items():
            counts["known", f"{'' if profile is None else profile.name} {claim} {outcome.rule}"] += count
    return counts


@lru_cache(maxsize=64)
def _limited(chosen: tuple[Rule, ...], globs: tuple[str, ...]) -> tuple[Rule, ...]:
    """Return the rules that globs name, the same objects each time: plans are kept by the identity of their rules."""
    named = [rule for rule in chosen if any(fnmatchcase(rule.id, glob) for glob in globs)]
    return tuple([_explaining(rule, globs) if rule.provoked else rule for rule in named])


def _explaining(rule: Rule, globs: tuple[str, ...]) -> Rule:
    # Imported here because most inputs hold whole bodies, and the index of error texts takes long to load.
    from conformance.rules.refused import limited

    return limited(rule, globs)


def _is_served(profile: Profile, model: str, day: str) -> bool:
    return not profiles.retired(profile.lifecycle, day) and profile.is_served(model, day)


def _contradiction(given: Input, profile: Profile) -> str:
    from conformance.files.recognition import contradiction

    return contradiction(given, profile)


def _protocols(conversation: Conversation) -> str | None:
    """Return the wire of a conversation, or its wires; None if it has no exchange."""
    return ", ".join(dict.fromkeys([each.protocol for each in conversation])) or None


@lru_cache(maxsize=8)
def checker_of(task: Task) -> Checker:
    """Return the checker for a task; loading rules and profiles takes longer than checking a file."""
    return Checker(task)


def pasted_error(file: File, error: InvalidDocument) -> Input | None:
    """Return the error in a named file of no known form; None if it holds none, or if it was found in a folder."""
    if file.found or not isinstance(error, Unrecognized) or not error.content:
        return None
    # Imported here because few files are of no known form.
    from conformance.files.pasted import error_in

    return error_in(error.content.decode("utf-8", "replace"), str(file.path))


def failed_file(file: File, error: InvalidDocument) -> CheckedInput:
    """Return the report of a file that cannot be read to its end, or of a folder that holds no files to check."""
    if file.found and isinstance(error, Unrecognized):
        return _skipped(file.path)
    if file.path.is_dir():
        message = f"no file in this folder has one of these suffixes: {' '.join(SUFFIXES)}"
        error = InvalidDocument(message, str(file.path))
    return _unreadable(str(file.path), error)


def _skipped(path: Path) -> CheckedInput:
    report: dict[str, Any] = {"path": encodable(str(path)), "line": None, "kind": "unrecognized", "provider": None}
    return CheckedInput(
        report | {"outcomes": [], "notes": ["skipped"]}, Counter({("inputs", ""): 1, ("skipped", ""): 1})
    )


def _unreadable(path: str, error: InvalidDocument) -> CheckedInput:
    report: dict[str, Any] = {
        "path": encodable(path),
        "line": error.line,
        "kind": None,
        "provider": None,
        "outcomes": [],
    }
    counts = Counter({("inputs", ""): 1, ("unreadable", ""): 1})
    return CheckedInput(report | {"error": encodable(str(error))}, counts)
