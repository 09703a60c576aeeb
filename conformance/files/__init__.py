"""Checks files: turns paths into inputs, and inputs into the JSON objects of a report, one at a time and in order."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from conformance.files.checking import (
    AUTO,
    NONE,
    RECOGNISED,
    STDIN,
    SUFFIXES,
    CheckedInput,
    Checker,
    Counts,
    File,
    Task,
    checker_of,
)
from conformance.files.report_objects import interval
from conformance.formats import Input
from conformance.formats.compression import plain_name
from conformance.results import Level

__all__ = [
    "AUTO", "NONE", "STDIN", "CheckedInput", "Checker", "Counts", "File", "Task", "check_paths", "files_of", "summary",
    "time_spent",
]  # fmt: skip

if TYPE_CHECKING:
    from conformance.files.timings import Timings

T = TypeVar("T")


def check_paths(
    paths: Iterable[str], task: Task, finish: Callable[[Sequence[CheckedInput]], T], jobs: int = 1
) -> Iterator[T]:
    """Check files, the files in folders, and standard input (`-`), in as many processes as `jobs`.

    Yield what `finish` makes of some adjacent inputs at a time, in order; it runs in the process that checked them, so
    that it and its results have to be picklable. With one process, it gets each input alone, as soon as it is checked.
    Requests and replies of a batch are joined, and come last. An input that cannot be read is reported with an `error`,
    and the next ones are still checked. Raises UnknownName for an unknown provider or rule before anything is read.
    """
    checker = checker_of(task)
    joined, files = _paired(tuple(paths), is_mapped=bool(task.fields))
    if jobs > 1:
        # Imported here because a single process needs none of it.
        from conformance.files.processes import check_in_processes

        return check_in_processes(files, joined, task, finish, jobs)
    checked = chain((each for file in files for each in checker.file(file)), map(checker.input, joined))
    return (finish((each,)) for each in checked)


def _paired(paths: Sequence[str], *, is_mapped: bool) -> tuple[Iterator[Input], Iterator[File]]:
    """Return the inputs of the batches among these paths and in these folders, and all other files."""
    folders = [path for path in paths if Path(path).is_dir()]
    if is_mapped or (len(paths) < 2 and not folders):
        return iter(()), (file for path in paths for file in files_of(path))
    # Imported here because most calls have one path.
    from conformance.formats import pairs

    joined, others = pairs.of_paths(paths)
    below, taken = pairs.in_folders(
        file.path for path in folders for file in files_of(path) if file.found and not file.unrelated
    )
    files = (file for path in others for file in files_of(path) if not (file.found and str(file.path) in taken))
    return chain(joined, below), files


def summary(counts: Counts, judged: Collection[str], task: Task) -> dict[str, Any]:
    """Return the summary of all counts and of the rules that judged something; it always has the same keys."""
    totals = ("inputs", "unreadable", "skipped", "exchanges", "errored", "hidden")
    return {
        **{name: counts[name, ""] for name in totals},
        "rules": len(checker_of(task).rules),
        "judged": len(judged),
        "findings": {level.value: counts["findings", level.value] for level in Level},
        "sides": {side: counts["sides", side] for side in ("client", "provider")},
        "known": _known_by_provider(counts),
        "as_of": _days_by_provider(counts),
        "recognised": {name: count for (group, name), count in sorted(counts.items()) if group == RECOGNISED and name},
        "unrecognised": counts[RECOGNISED, ""],
    }


def time_spent(counts: Counts, task: Task) -> "Timings":
    """Return where the time went, by all counts and by what this process measured beside its inputs."""
    # Imported here because most runs measure nothing.
    from conformance.files.timings import timings_of

    counts.update(checker_of(task).spent())
    return timings_of(counts, counts["exchanges", ""])


def _known_by_provider(counts: Counts) -> dict[str, list[dict[str, Any]]]:
    """Return how often each claim describes a departure, by provider, the most frequent first."""
    known: dict[str, list[dict[str, Any]]] = {}
    for (group, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if group == "known":
            provider, claim, rule = name.rsplit(" ", 2)
            known.setdefault(provider, []).append({"claim": claim, "rule": rule, "count": count})
    return dict(sorted(known.items()))


def _days_by_provider(counts: Counts) -> dict[str, str]:
    """Return the day, or the first and the last day, whose claims held, by provider."""
    days: dict[str, list[str]] = {}
    for group, name in sorted(counts):
        if group == "as_of":
            # Two providers that fit equally are one name with spaces.
            provider, _, day = name.rpartition(" ")
            days.setdefault(provider, []).append(day)
    return {provider: interval(each) for provider, each in days.items()}


def files_of(path: str) -> Iterator[File]:
    """Yield the file at a path, or the files in a folder that have a known suffix; without any, the folder itself."""
    if path == "-":
        yield File(STDIN)
        return
    given = Path(path)
    if not given.is_dir():
        yield File(given)
        return
    empty = True
    # Imported here because most calls have a file. Beside its sessions, an agent keeps settings, caches and keys.
    from conformance.formats.sessions.places import sessions_in

    sessions = sessions_in(given)
    for folder, below, names in os.walk(given):
        # In place: os.walk enters what the list holds afterwards.
        below[:] = sorted([name for name in below if not name.startswith(".")])
        for name in sorted(names):
            if plain_name(name).endswith(SUFFIXES) and not name.startswith("."):
                empty = False
                file = Path(folder, name)
                yield File(file, found=True, unrelated=sessions is not None and file not in sessions)
    if empty:
        yield File(given)
