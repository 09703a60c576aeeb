"""Checks the inputs in a file for one task, and returns the JSON object of a report for each."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from conformance import profiles, rules, wires
from conformance.errors import InvalidDocument, Unrecognized
from conformance.files.unrelated import related
from conformance.formats import Input, read_path
from conformance.formats.inputs import pointer_lines
from conformance.judge import judge
from conformance.profiles import Profile
from conformance.results import Finding, Level, Outcome, Status
from conformance.rules import Rule
from conformance.wire.views import requests

AUTO: Final = "auto"
"""The provider argument that means: detect the provider of each input from the name or the host in it."""

SUFFIXES: Final = (".json", ".jsonl", ".ndjson", ".har", ".yaml", ".yml", ".sse", ".httprr", ".parquet", ".flow", ".db")
"""The suffixes of files that are read from folders, each also with `.gz`, `.zst` or `.br` appended."""

STDIN: Final = Path("/dev/stdin")

Counts: TypeAlias = Counter[tuple[str, str]]
"""What was counted: `("findings", "MUST")`, `("sides", "client")`, `("inputs", "")` …"""


class Task(NamedTuple):
    """What to check and what to report.

    `provider`: a profile's name, `auto`, or empty for the canonical wire alone. `rules`: globs of ids; empty means all.
    `level`: the lowest level to report. `show_all`: also report outcomes without findings. `lines`: report the line of
    each finding in a file that is one JSON value, which requires reading the file again. `as_of`: the ISO 8601 day
    whose claims hold; empty means the day of each exchange.
    """

    provider: str = ""
    rules: tuple[str, ...] = ()
    level: Level = Level.MAY
    show_all: bool = False
    lines: bool = False
    as_of: str = ""


class CheckedInput(NamedTuple):
    """One checked input, as plain data, to be sent between processes.

    `report`: its JSON object in the report. `judged`: the ids of the rules that found something to judge.
    """

    report: dict[str, Any]
    counts: Counts
    judged: Sequence[str] = ()


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
        self.rules = rules.select(task.rules) if task.rules else rules.load()
        # A bare list of messages is read as a request without a model, which is not the sender's omission.
        self._message_rules = tuple([rule for rule in self.rules if not (rule.by_schema and rule.on is requests)])
        self._task = task
        if task.provider not in ("", AUTO):
            # An unknown name is an error before anything is read.
            profiles.load_profile(task.provider)

    def file(self, file: File) -> Iterator[CheckedInput]:
        """Check the inputs in a file; if it becomes unreadable, the inputs before that still count."""
        if file.unrelated:
            yield _skipped(file.path)
            return
        try:
            inputs = read_path(file.path)
            for given in related(inputs) if file.found else inputs:
                yield self.input(given)
        except InvalidDocument as error:
            yield failed_file(file, error)

    def input(self, given: Input) -> CheckedInput:
        """Check one input."""
        if given.problem is not None:
            return _unreadable(given.path, given.problem)
        profile = self._profile(given) if given.conversation else None
        chosen = self._rules_for(given)
        conversation = wires.translate(given.conversation)
        judgement = judge(conversation, profile, chosen, self._task.as_of)
        counts: Counts = Counter({("inputs", ""): 1, ("exchanges", ""): len(given.conversation)})
        days, notes = self._by_day(given, profile)
        if conversation is not given.conversation:
            # Imported here because most files hold chat completions only.
            from conformance.wire.unseen import unseen

            notes += unseen(conversation)
        counts.update([("as_of", f"{profile.name} {day}") for day in days] if profile is not None else ())
        # Most rules find nothing, and have no outcome unless all are to be shown.
        outcomes = judgement.outcomes() if self._task.show_all else judgement.found()
        reported = [each for outcome in outcomes if (each := self._outcome(outcome, counts)) is not None]
        if self._task.lines and any(outcome["findings"] for outcome in reported):
            _add_lines(given, reported)
        return CheckedInput(_report(given, profile, days, notes, reported), counts, judgement.judged())

    def _rules_for(self, given: Input) -> Sequence[Rule]:
        """Return the rules for which an input holds enough."""
        chosen = self._message_rules if given.kind == "messages" else self.rules
        if given.rules:
            chosen = tuple([rule for rule in chosen if any(fnmatchcase(rule.id, glob) for glob in given.rules)])
        return chosen

    def _by_day(self, given: Input, profile: Profile | None) -> tuple[list[str], list[str]]:
        """Return the days whose claims hold for the exchanges of an input, and notes on models not served then."""
        if profile is None:
            return [], []
        asked = {(self._task.as_of or each.date or profile.as_of, each.model) for each in given.conversation}
        ended = sorted([(model, day) for day, model in asked if not _is_served(profile, model, day)])
        notes = [f"{profile.name} does not serve the model {model!r} on {day}" for model, day in ended]
        return sorted({day for day, _ in asked}), notes

    def _profile(self, given: Input) -> Profile | None:
        name: str | None = self._task.provider
        if name == AUTO:
            name = detected_provider(given)
        return profiles.load_profile(name) if name else None

    def _outcome(self, outcome: Outcome, counts: Counts) -> dict[str, Any] | None:
        """Count an outcome and return its JSON object, or None if the task does not report it."""
        if outcome.status is Status.FAILED:
            return self._failed_outcome(outcome, counts)
        if outcome.status is Status.ERRORED:
            counts["errored", ""] += 1
        return outcome.to_json() if self._task.show_all or outcome.status is Status.ERRORED else None

    def _failed_outcome(self, outcome: Outcome, counts: Counts) -> dict[str, Any] | None:
        for finding in outcome.findings:
            counts["findings", finding.level.value] += 1
            counts["sides", finding.side] += 1
            counts["hidden", ""] += not self._is_reported(finding)
        if not self._task.show_all and not any(map(self._is_reported, outcome.findings)):
            return None
        reported = outcome.to_json()
        pairs = zip(reported["findings"], outcome.findings, strict=True)
        return reported | {"findings": [each for each, finding in pairs if self._is_reported(finding)]}

    def _is_reported(self, finding: Finding) -> bool:
        return finding.level.severity >= self._task.level.severity


def _is_served(profile: Profile, model: str, day: str) -> bool:
    return not profiles.retired(profile.lifecycle, day) and profile.is_served(model, day)


def detected_provider(given: Input) -> str | None:
    """Return the provider that an input names, if it has a profile, otherwise the provider of its host."""
    name = given.provider
    if name in profiles.names() or (name and name in profiles.installed_names()):
        return given.provider
    named = [exchange for exchange in given.conversation if exchange.url]
    url = named[0].url if named else ""
    host = url.partition("://")[2].partition("/")[0] or url.partition("/")[0]
    if not host:
        return None
    return profiles.by_host(host, wires.of(named[0]).name)


@lru_cache(maxsize=8)
def checker_of(task: Task) -> Checker:
    """Return the checker for a task; loading rules and profiles takes longer than checking a file."""
    return Checker(task)


def _add_lines(given: Input, outcomes: list[dict[str, Any]]) -> None:
    """Add the `line` of each finding, where it can be determined."""
    findings = [finding for outcome in outcomes for finding in outcome["findings"]]
    found = pointer_lines(given, {finding["at"] for finding in findings})
    for finding in findings:
        if finding["at"] in found:
            finding["line"] = found[finding["at"]]


def _report(
    given: Input, profile: Profile | None, days: Sequence[str], notes: Sequence[str], outcomes: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the JSON object of an input; it has `as_of`, `lines` and `notes` only if they are not empty."""
    report: dict[str, Any] = {"path": _encodable(given.path), "line": given.line, "kind": given.kind}
    report |= {"provider": None if profile is None else profile.name, "outcomes": outcomes}
    if days:
        report["as_of"] = interval(days)
    if len(given.lines) > 1:
        report["lines"] = list(given.lines)
    if given.notes or notes:
        report["notes"] = [*given.notes, *notes]
    return report


def failed_file(file: File, error: InvalidDocument) -> CheckedInput:
    """Return the report of a file that cannot be read to its end, or of a folder that holds no files to check."""
    if file.found and isinstance(error, Unrecognized):
        return _skipped(file.path)
    if file.path.is_dir():
        message = f"no file in this folder has one of these suffixes: {' '.join(SUFFIXES)}"
        error = InvalidDocument(message, str(file.path))
    return _unreadable(str(file.path), error)


def _skipped(path: Path) -> CheckedInput:
    report: dict[str, Any] = {"path": _encodable(str(path)), "line": None, "kind": "unrecognized", "provider": None}
    return CheckedInput(
        report | {"outcomes": [], "notes": ["skipped"]}, Counter({("inputs", ""): 1, ("skipped", ""): 1})
    )


def _unreadable(path: str, error: InvalidDocument) -> CheckedInput:
    report: dict[str, Any] = {
        "path": _encodable(path),
        "line": error.line,
        "kind": None,
        "provider": None,
        "outcomes": [],
    }
    counts = Counter({("inputs", ""): 1, ("unreadable", ""): 1})
    return CheckedInput(report | {"error": _encodable(str(error))}, counts)


def _encodable(name: str) -> str:
    """Return a file name that any encoding of Unicode can express; bytes that are not UTF-8 are escaped."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "backslashreplace")


def interval(days: Sequence[str]) -> str:
    """Return sorted days as ISO 8601: one day, or an interval."""
    return days[0] if days[0] == days[-1] else f"{days[0]}/{days[-1]}"
