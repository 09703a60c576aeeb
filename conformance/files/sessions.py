"""Checks the sessions that agents left on disk, newest first, and sums up what is broken by agent."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Final

from conformance import rules
from conformance.errors import InvalidDocument
from conformance.files.checking import AUTO, Checker, Task
from conformance.formats import Input, read_path, sessions
from conformance.formats.sessions.places import PLACES, SessionFile, folders, session_files
from conformance.results import Level
from conformance.rules import advice

WORST: Final = 3
"""How many findings are shown for each agent."""
_MAX_BYTES: Final = 1 << 28
"""The largest file that is read."""


@dataclass(slots=True)
class AgentReport:
    """What was found of one agent. `sessions`, `broken`: conversations; `unread`: files by reason, which were left out.

    `findings`: how many by rule. `worst`: the worst findings, as JSON objects with `rule`, `level`, `place`, `message`
    and `fix`.
    """

    agent: str
    title: str
    sessions: int = 0
    exchanges: int = 0
    broken: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    worst: list[dict[str, Any]] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is read: conversations of each agent, seconds in all, and files changed since a time, in seconds."""

    sessions: int
    seconds: float
    since: float = 0.0


def examine(
    home: Path, environment: Mapping[str, str], bounds: Extent, progress: Callable[[str], None]
) -> Iterator[AgentReport]:
    """Yield a report for each agent that has sessions below a home folder or where the environment says."""
    checker = Checker(Task(AUTO, level=Level.SHOULD))
    end = time.monotonic() + bounds.seconds
    for place in PLACES:
        found = session_files(place, folders(place, home, environment))
        if not found:
            continue
        title = import_module(f"{sessions.__name__}.{place.agent}").TITLE
        report = AgentReport(place.agent, title)
        seen: dict[str, Path] = {}
        for file in found:
            if reason := _left_out(file, report, bounds, end):
                report.unread[reason] += 1
                continue
            progress(f"{report.title}: {report.sessions} sessions checked, now {file.path}")
            _check(checker, file.path, report, seen, bounds.sessions)
        report.worst = sorted(report.worst, key=_rank)[:WORST]
        yield report


def _left_out(file: SessionFile, report: AgentReport, bounds: Extent, end: float) -> str:
    if file.changed < bounds.since:
        return "older than --since"
    if report.sessions >= bounds.sessions:
        return "beyond --limit"
    if time.monotonic() > end:
        return "no time left"
    return f"larger than {_MAX_BYTES >> 20} MB" if file.size > _MAX_BYTES else ""


def _check(checker: Checker, path: Path, report: AgentReport, seen: dict[str, Path], limit: int) -> None:
    broken: set[str] = set()
    try:
        for given in read_path(path):
            if given.problem is not None or given.kind not in sessions.KINDS:
                report.unread["not understood"] += 1
                break
            # The folder and the database of opencode may hold the same session; a session may be several inputs.
            name = given.session if report.agent == "opencode" else f"{path} {given.session}"
            is_new = name not in seen
            if not given.conversation or (is_new and report.sessions >= limit) or seen.setdefault(name, path) != path:
                continue
            report.sessions += is_new
            if _add(report, given, checker):
                broken.add(name)
    except InvalidDocument as error:
        report.unread[error.message if "library" in error.message else "cannot be read"] += 1
    report.broken += len(broken)


def _add(report: AgentReport, given: Input, checker: Checker) -> bool:
    """Add what is found in an input, and return whether that is anything."""
    checked = checker.input(given).report
    report.exchanges += len(given.conversation)
    every = chain.from_iterable(_findings(outcome, given) for outcome in checked["outcomes"])
    # What is wrong in the history is found in each request that has it.
    found = [*{(each["rule"], each["message"]): each for each in reversed(list(every))}.values()]
    report.findings.update([each["rule"] for each in found])
    # More than are shown, since a later session may hold a worse one.
    report.worst = sorted([*report.worst, *_first_of_each_rule(found)], key=_rank)[: 10 * WORST]
    return bool(found)


def _findings(outcome: Mapping[str, Any], given: Input) -> Iterator[dict[str, Any]]:
    for finding in outcome["findings"]:
        number = finding["at"].split("/")[1] if finding["at"] else "0"
        line = given.lines[int(number)] if number.isdecimal() and int(number) < len(given.lines) else given.line
        place = f"{given.path}:{line}" if line is not None else f"{given.path} ({given.session})"
        fix = finding.get("fix") or advice(rules.by_id()[outcome["rule"]].doc)[1]
        shown = {key: finding[key] for key in ("level", "at", "message")}
        yield {"rule": outcome["rule"], **shown, "place": place, "fix": fix}


def _first_of_each_rule(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*{each["rule"]: each for each in reversed(found)}.values()]


def _rank(finding: Mapping[str, Any]) -> tuple[int, str]:
    return -Level(finding["level"]).severity, finding["rule"]
