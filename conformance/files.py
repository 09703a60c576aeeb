"""Files judged: paths become inputs, and inputs the JSON objects that a report holds, one at a time and in order."""

import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from conformance import profiles, rules
from conformance.engine import check
from conformance.errors import InvalidDocument, Unrecognized, Unusable
from conformance.formats import Input, read_path
from conformance.formats.inputs import pointer_lines
from conformance.profiles import Profile
from conformance.results import Finding, Level, Outcome, Status
from conformance.wire.views import requests

AUTO: Final = "auto"
"""Stands for a provider: the one that an input tells by itself, by the name or the host in it."""

SUFFIXES: Final = (".json", ".jsonl", ".ndjson", ".har", ".yaml", ".yml", ".sse", ".httprr")
"""What the names of files end with that are looked for in a folder, each also with `.gz` behind."""

_LINES: Final = (".jsonl", ".ndjson")
_STDIN: Final = Path("/dev/stdin")
_BATCH: Final = 16
"""How many inputs go to a process at once: enough to outweigh the way there, few enough to hold in memory."""

Counts: TypeAlias = Counter[tuple[str, str]]
"""How often what was met: `("findings", "MUST")`, `("sides", "client")`, `("judged", rule)`, `("inputs", "")` …"""


class Task(NamedTuple):
    """What to judge by and what to show.

    `provider`: a profile's name, `auto`, or empty for the canonical wire alone. `rules`: globs of ids; none: all.
    `level`: the lowest that is shown. `every`: show the outcomes that found nothing, too. `lines`: tell the line of
    each finding in a file that is one JSON value, at the price of reading it again.
    """

    provider: str = ""
    rules: tuple[str, ...] = ()
    level: Level = Level.MAY
    every: bool = False
    lines: bool = False


class Judged(NamedTuple):
    """One judged input: the JSON object of it, and what is to be counted of it; plain data, to cross processes."""

    shown: dict[str, Any]
    counts: Counts


class File(NamedTuple):
    """A file to judge, named in the call or `found` in a folder, where other files may stand beside."""

    path: Path
    found: bool = False


def judge(paths: Iterable[str], task: Task, jobs: int = 1) -> Iterator[Judged]:
    """Judge what the paths lead to, in as many processes; a folder is searched, `-` is standard input.

    An input that cannot be read is one with an `error`, and the others follow. Raises UnknownName where the task
    names a provider or a rule that does not exist, before anything is read.
    """
    judging = _judge_of(task)
    files = (file for path in paths for file in files_of(path))
    if jobs > 1:
        return _in_processes(files, task, jobs)
    return (judged for file in files for judged in judging.file(file))


def summary(counts: Counts, task: Task) -> dict[str, Any]:
    """Return the summary of everything that was counted: the same members, whatever was met."""
    whole = ("inputs", "unreadable", "exchanges", "errored", "hidden")
    return {
        **{name: counts[name, ""] for name in whole},
        "rules": len(_judge_of(task).rules),
        "judged": sum(1 for group, _ in counts if group == "judged"),
        "findings": {level.value: counts["findings", level.value] for level in Level},
        "sides": {side: counts["sides", side] for side in ("client", "provider")},
    }


class Judge:
    """Judges files and inputs by one task."""

    def __init__(self, task: Task) -> None:
        self.rules = rules.select(task.rules) if task.rules else rules.load()
        # A bare list of messages is taken for a request's, but is not one: nobody left its model out.
        self._without_body = tuple([rule for rule in self.rules if not (rule.by_schema and rule.on is requests)])
        self._task = task
        self._sides = {rule.id: rule.on.side.value for rule in self.rules}
        self._loaded: dict[str, Profile] = {}
        self._by_host: dict[str, str | None] = {}
        self._known = frozenset(profiles.names() if task.provider == AUTO else ())
        if task.provider not in ("", AUTO):
            self._loaded[task.provider] = profiles.load(task.provider)

    def file(self, file: File) -> Iterator[Judged]:
        """Judge what a file holds; where it breaks off, what was read before it still counts."""
        try:
            for given in read_path(file.path):
                yield self.input(given)
        except InvalidDocument as error:
            yield _broken_off(file, error)

    def input(self, given: Input) -> Judged:
        """Judge one input."""
        if given.problem is not None:
            return _unreadable(given.path, given.problem)
        profile = self._profile(given) if given.conversation else None
        chosen = self._without_body if given.kind == "messages" else self.rules
        outcomes = check(given.conversation, profile, chosen)
        counts: Counts = Counter({("inputs", ""): 1, ("exchanges", ""): len(given.conversation)})
        shown = [each for outcome in outcomes if (each := self._shown(outcome, counts)) is not None]
        if self._task.lines and any(outcome["findings"] for outcome in shown):
            _locate(given, shown)
        return Judged(_object(given, profile, shown), counts)

    def _profile(self, given: Input) -> Profile | None:
        name: str | None = self._task.provider
        if name == AUTO:
            name = self._told(given)
        if not name:
            return None
        if name not in self._loaded:
            self._loaded[name] = profiles.load(name)
        return self._loaded[name]

    def _told(self, given: Input) -> str | None:
        """Return the provider that an input tells: the one it names, where that has a profile, else its host's."""
        if given.provider in self._known:
            return given.provider
        urls = [exchange.url for exchange in given.conversation if exchange.url]
        host = urls[0].partition("://")[2].partition("/")[0] or urls[0].partition("/")[0] if urls else ""
        if host not in self._by_host:
            self._by_host[host] = profiles.by_host(host) if host else None
        return self._by_host[host]

    def _shown(self, outcome: Outcome, counts: Counts) -> dict[str, Any] | None:
        """Count an outcome and return the JSON object of it, or None where the task does not ask for it."""
        if outcome.judged:
            counts["judged", outcome.rule] = outcome.judged
        if outcome.status is Status.FAILED:
            return self._failed(outcome, counts)
        if outcome.status is Status.ERRORED:
            counts["errored", ""] += 1
        return outcome.to_json() if self._task.every or outcome.status is Status.ERRORED else None

    def _failed(self, outcome: Outcome, counts: Counts) -> dict[str, Any] | None:
        side = self._sides[outcome.rule]
        for finding in outcome.findings:
            counts["findings", finding.level.value] += 1
            counts["sides", side] += 1
            counts["hidden", ""] += not self._counts(finding)
        if not self._task.every and not any(map(self._counts, outcome.findings)):
            return None
        shown = outcome.to_json()
        pairs = zip(shown["findings"], outcome.findings, strict=True)
        return shown | {"findings": [each for each, finding in pairs if self._counts(finding)]}

    def _counts(self, finding: Finding) -> bool:
        return finding.level.weight >= self._task.level.weight


@cache
def _judge_of(task: Task) -> Judge:
    """Return the judge of a task: one a process, since rules and profiles take longer to load than a file to judge."""
    return Judge(task)


def _locate(given: Input, outcomes: list[dict[str, Any]]) -> None:
    """Give each finding its `line`, where that can be told."""
    findings = [finding for outcome in outcomes for finding in outcome["findings"]]
    found = pointer_lines(given, {finding["at"] for finding in findings})
    for finding in findings:
        if finding["at"] in found:
            finding["line"] = found[finding["at"]]


def _object(given: Input, profile: Profile | None, outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the JSON object of an input; `lines` and `notes` are there only where there is something to say."""
    shown: dict[str, Any] = {"path": _text(given.path), "line": given.line, "kind": given.kind}
    shown |= {"provider": None if profile is None else profile.name, "outcomes": outcomes}
    if len(given.lines) > 1:
        shown["lines"] = list(given.lines)
    if given.notes:
        shown["notes"] = list(given.notes)
    return shown


def _broken_off(file: File, error: InvalidDocument) -> Judged:
    """Return what is said of a file that cannot be read on; of a folder, that nothing was found in it."""
    if file.found and isinstance(error, Unrecognized):
        return _passed_over(file.path)
    if file.path.is_dir():
        message = f"expected a folder that holds files whose names end with one of {' '.join(SUFFIXES)}"
        error = InvalidDocument(message, str(file.path))
    return _unreadable(str(file.path), error)


def _passed_over(path: Path) -> Judged:
    shown: dict[str, Any] = {"path": _text(str(path)), "line": None, "kind": "unrecognized", "provider": None}
    return Judged(shown | {"outcomes": [], "notes": ["passed over"]}, Counter({("inputs", ""): 1}))


def _unreadable(path: str, error: InvalidDocument) -> Judged:
    shown: dict[str, Any] = {"path": _text(path), "line": error.line, "kind": None, "provider": None, "outcomes": []}
    return Judged(shown | {"error": _text(str(error))}, Counter({("inputs", ""): 1, ("unreadable", ""): 1}))


def _text(name: str) -> str:
    """Return a file's name as text that can be written anywhere: bytes in it that are not UTF-8 are spelled out."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "backslashreplace")


def files_of(path: str) -> Iterator[File]:
    """Yield the file of a path, or the files of a folder that may be inputs, in order; the folder where it has none."""
    if path == "-":
        yield File(_STDIN)
        return
    found = Path(path)
    if not found.is_dir():
        yield File(found)
        return
    none = True
    for folder, below, names in os.walk(found):
        below[:] = sorted([each for each in below if not each.startswith(".")])
        for name in sorted(names):
            if name.lower().removesuffix(".gz").endswith(SUFFIXES) and not name.startswith("."):
                none = False
                yield File(Path(folder, name), found=True)
    if none:
        yield File(found)


Batch: TypeAlias = "File | list[Input | Judged]"
"""What one process judges at once: a file, or inputs out of one that was read already."""


def _batches(files: Iterable[File]) -> Iterator[Batch]:
    """Yield files as they are, but those of lines, which may be of any size, as some inputs at a time."""
    for file in files:
        if file.path != _STDIN and not file.path.name.lower().removesuffix(".gz").endswith(_LINES):
            yield file
            continue
        inputs = _read(file)
        while batch := list(islice(inputs, _BATCH)):
            yield batch


def _read(file: File) -> Iterator[Input | Judged]:
    """Yield the inputs of a file; what is wrong is said here already, since errors do not cross processes."""
    try:
        for given in read_path(file.path):
            yield given if given.problem is None else _unreadable(given.path, given.problem)
    except InvalidDocument as error:
        yield _broken_off(file, error)


def _judge_batch(task: Task, batch: Batch) -> list[Judged]:
    judging = _judge_of(task)
    if isinstance(batch, File):
        return list(judging.file(batch))
    return [each if isinstance(each, Judged) else judging.input(each) for each in batch]


def _in_processes(files: Iterable[File], task: Task, jobs: int) -> Iterator[Judged]:
    """Judge in processes, in order; only so much is read ahead as keeps all of them busy."""
    # Imported here because one process needs none of it.
    import signal
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # An interrupt reaches every process of the terminal; the one that was called answers it.
    pool = ProcessPoolExecutor(jobs, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))
    waiting: deque[Future[Sequence[Judged]]] = deque()
    try:
        for batch in _batches(files):
            waiting.append(pool.submit(_judge_batch, task, batch))
            if len(waiting) > 2 * jobs:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    except BrokenProcessPool:
        message = "a process ended before its time, most likely for lack of memory; try fewer --jobs"
        raise Unusable(message) from None
    finally:
        pool.shutdown(cancel_futures=True)
