"""Runs a target on many inputs, and reports each kind of failure once with its smallest input."""

import json
import re
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

from tests.fuzz import seeds
from tests.fuzz.reach import Reached, Watch, watching
from tests.fuzz.targets import TARGETS, Input, Target

LIMIT: Final = 10.0
"""Seconds of processor time that one input may take; usual ones take milliseconds."""

_BLOCK: Final = 64
_REPEATED: Final = 4
"""Every so many inputs of a block run again at its end, the last one first: what ran in between must not matter."""
_TRIES: Final = 1500
_SHRINKING: Final = 20.0
"""How many tries, and how many seconds of processor time, it may take to find a smaller input."""
_SIMPLE: Final[tuple[Any, ...]] = (None, 0, "", [], {})
_REPLACED: Final = (dict, list)
_PACKAGE: Final = f"{Path('conformance', '_')}"[:-1]


class TooSlow(BaseException):
    """An input takes longer than the limit; no `except Exception` catches this."""


class Attempt(NamedTuple):
    """What came of one input: the outcome, or what failed (`key`, the same for the same cause) and its description."""

    outcome: Any = None
    key: str = ""
    message: str = ""


class Failure(NamedTuple):
    """An input that fails: the target, the number of the input, and what happened; `times`: how many did likewise."""

    target: str
    number: int
    given: Input
    key: str
    message: str
    times: int = 1


class Job(NamedTuple):
    """Inputs to run: those with the numbers `first`, `first + step`, …, at most `inputs` of them and for `seconds`."""

    target: str
    seed: int
    corpus: Path | None = None
    first: int = 0
    step: int = 1
    inputs: int | None = None
    seconds: float | None = None


class Report(NamedTuple):
    """How many inputs ran, in how many seconds of processor time, the failures by key, and the rules reached."""

    inputs: int
    seconds: float
    failures: dict[str, Failure]
    reached: Reached = Reached()


def made(target: Target, seed: int, corpus: Path | None, number: int) -> Input:
    """Return the input of a number; it depends on seed, corpus and number alone."""
    pool = target.pools(seed, corpus)
    for again in count():
        try:
            return target.make(seeds.random(seed, target.name, number, again), pool)
        except RecursionError:
            """Several steps nested a value deeper than even the harness can write."""
    raise AssertionError


def run(job: Job) -> Report:
    """Run the inputs of a job, in blocks."""
    target, began, used = TARGETS[job.target], time.monotonic(), time.process_time()
    failures: dict[str, Failure] = {}
    numbers, done, reached = islice(count(job.first, job.step), job.inputs), 0, Reached()
    with tempfile.TemporaryDirectory(prefix="conformance-fuzz-") as name, watching() as watch:
        while block := list(islice(numbers, _BLOCK)):
            inputs = [(number, made(target, job.seed, job.corpus, number)) for number in block]
            watch.taken()
            found, rules = _run_block(target, inputs, Path(name), watch)
            reached += rules
            for failure in found:
                known = failures.get(failure.key, failure._replace(times=0))
                failures[failure.key] = known._replace(times=known.times + 1)
            done += len(block)
            if job.seconds is not None and time.monotonic() - began > job.seconds:
                break
    return Report(done, time.process_time() - used, failures, reached)


def divided(job: Job, processes: int) -> list[Job]:
    """Return the job for each of several processes: input N goes to the process N modulo their number."""
    if job.inputs is None:
        return [job._replace(first=first, step=processes) for first in range(processes)]
    inputs = [len(range(first, job.inputs, processes)) for first in range(processes)]
    return [job._replace(first=first, step=processes, inputs=some) for first, some in enumerate(inputs)]


def merged(reports: Sequence[Report]) -> Report:
    """Return the report of jobs; of the same failure of a target, the first input counts."""
    failures: dict[str, Failure] = {}
    for each in sorted([each for report in reports for each in report.failures.values()], key=lambda each: each.number):
        known = failures.get(each.key, each._replace(times=0))
        failures[each.key] = known._replace(times=known.times + each.times)
    reached = sum((each.reached for each in reports), Reached())
    return Report(sum(each.inputs for each in reports), sum(each.seconds for each in reports), failures, reached)


def _run_block(
    target: Target, inputs: list[tuple[int, Input]], folder: Path, watch: Watch
) -> tuple[list[Failure], Reached]:
    found, repeated, reached = [], [], Reached()
    for position, (number, given) in enumerate(inputs):
        attempt = attempted(target, given, folder)
        reached = reached.added(*watch.taken())
        if attempt.key:
            found.append(Failure(target.name, number, given, attempt.key, attempt.message))
        elif position % _REPEATED == 0:
            repeated.append((number, given, attempt))
    for number, given, before in reversed(repeated):
        after = attempted(target, given, folder)
        if after != before:
            message = f"first {before.outcome!r:.300}, then {after.outcome or after.message!r:.300}"
            found.append(Failure(target.name, number, given, "the same input had another outcome", message))
    return found, reached


def attempted(target: Target, given: Input, folder: Path) -> Attempt:
    """Run one input."""
    try:
        with limited(LIMIT):
            return Attempt(target.run(given, folder))
    except TooSlow:
        return Attempt(None, "too slow", f"took more than {LIMIT} s of processor time")
    except AssertionError as error:
        return Attempt(None, _key(str(error)), str(error))
    except Exception as error:  # noqa: BLE001 — whatever a target raises is what the fuzzer looks for
        return Attempt(None, f"{type(error).__name__} in {_place(error)}", "".join(traceback.format_exception(error)))


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TooSlow in the block once it has taken so much processor time; other load on the machine does not count."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _key(message: str) -> str:
    """Return what stays the same in the messages of one cause."""
    return re.sub(r"[0-9]+|'[^']*'|\"[^\"]*\"", "…", message)[:100]


def _place(error: Exception) -> str:
    """Return the innermost function of the package that an error passed, or of all code if it passed none."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if _PACKAGE in frame.filename] or frames
    return f"{Path(ours[-1].filename).name}:{ours[-1].name}"


def shrunk(failure: Failure, tries: int = _TRIES) -> Failure:
    """Return the failure with the smallest input found that still fails in the same way."""
    target = TARGETS[failure.target]
    if failure.key not in ("too slow", "the same input had another outcome"):
        with tempfile.TemporaryDirectory(prefix="conformance-fuzz-") as name:
            fails = _Same(target, failure.key, Path(name), tries)
            given = _smallest(failure.given, fails)
            return failure._replace(given=given, message=attempted(target, given, Path(name)).message)
    return failure


class _Same:
    """Whether an input fails like another one; once the tries or the time are used up, none does."""

    def __init__(self, target: Target, key: str, folder: Path, tries: int) -> None:
        self._target, self._key, self._folder, self._tries = target, key, folder, tries
        self._until = time.process_time() + _SHRINKING

    def __call__(self, given: Input) -> bool:
        self._tries -= 1
        if self._tries < 0 or time.process_time() > self._until:
            return False
        return attempted(self._target, json.loads(json.dumps(given)), self._folder).key == self._key


def _smallest(given: Any, fails: Callable[[Any], bool]) -> Any:
    """Return a value that still fails, from which nothing can be removed; the parts of a value from the outside in."""
    for simple in _SIMPLE:
        if type(given) in (type(simple), *_REPLACED) and len(str(given)) > len(str(simple)) and fails(simple):
            return simple
    if isinstance(given, str):
        return _shortest(given, fails)
    if isinstance(given, list):
        given = _shortest(given, fails)
        for number, inner in enumerate(given):
            given[number] = _smallest(inner, _inside(fails, given, number))
    elif isinstance(given, dict):
        given = dict(_shortest(list(given.items()), lambda pairs: fails(dict(pairs))))
        for name, inner in given.items():
            given[name] = _smallest(inner, _inside(fails, given, name))
    return given


def _inside(fails: Callable[[Any], bool], holder: Any, key: Any) -> Callable[[Any], bool]:
    """Return whether a container fails with another value under a key."""

    def with_other(inner: Any) -> bool:
        changed = holder.copy()
        changed[key] = inner
        return fails(changed)

    return with_other


def _shortest(given: Any, fails: Callable[[Any], bool]) -> Any:
    """Return a sequence from which no run of items can be removed: first halves, then ever shorter runs."""
    size = len(given)
    while size:
        at = 0
        while at < len(given):
            shorter = given[:at] + given[at + size :]
            if fails(shorter):
                given = shorter
            else:
                at += size
        size //= 2
    return given


def write(failure: Failure, folder: Path) -> Path:
    """Write a failing input to a file that `--input` reads, and return its path."""
    name = re.sub(r"[^a-z0-9]+", "-", f"{failure.target} {failure.key}".lower()).strip("-")[:80]
    path = folder / f"{name}.json"
    folder.mkdir(parents=True, exist_ok=True)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        path.write_text(json.dumps({"target": failure.target, "input": failure.given}, indent=1) + "\n", "utf-8")
    finally:
        sys.setrecursionlimit(limit)
    return path
