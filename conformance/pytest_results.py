"""The results of a pytest run of the suites: written when it begins, as incomplete, and again when it has ended."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import Final

import pytest

from conformance.errors import ConformanceError
from conformance.pytest_output import is_checked, safe, stale_entries, untested_facts
from conformance.pytest_unknown import keep
from conformance.results.files import write
from conformance.results.record import Selection
from conformance.suite.pytest_config import (
    COLLECTED,
    DESELECTED,
    IS_DONE,
    ONLY_UNKNOWN,
    RESULTS,
    STARTED,
    VARIANT,
    case_of,
)
from conformance.suite.run import Run

_ENDS: Final[Mapping[int, str]] = {
    pytest.ExitCode.INTERRUPTED: "the run was interrupted",
    pytest.ExitCode.INTERNAL_ERROR: "pytest broke",
    pytest.ExitCode.USAGE_ERROR: "the run could not begin",
    pytest.ExitCode.NO_TESTS_COLLECTED: "no test was selected",
}


def begin(session: pytest.Session, run: Run) -> None:
    """Note what was selected, and write results that say that the run has not ended, in case it is killed.

    Those of an earlier run in the same folder are replaced: nobody must take them for the results of this one.
    """
    run.selection = _selection(session, run)
    if not run.selection.is_whole:
        session.config.stash[DESELECTED] = True
    _write(session, run)


def finish(session: pytest.Session, run: Run) -> None:
    """Close the run, write its results, and make the exit code say what the run does not prove."""
    config = session.config
    is_done = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    config.stash[IS_DONE] = is_done
    run.end(_reason(session))
    try:
        run.close(is_done=is_done)
    except ConformanceError as error:
        pytest.exit(safe(config, str(error)), returncode=2)
    _write(session, run)
    if run.options.only_unknown:
        keep(session, run)
    if session.exitstatus == pytest.ExitCode.OK and not any(map(is_checked, run.results().cases)):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
    if session.exitstatus == pytest.ExitCode.OK and _is_failure(run, config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _is_failure(run: Run, config: pytest.Config) -> bool:
    """Return True if a run fails as a whole though none of its items does."""
    claims = run.contradicted_claims() or run.missing_claims()
    left = run.stopped or run.left_out or untested_facts(run, config)
    return bool(claims or left) or not stale_entries(run, config).passes


def _write(session: pytest.Session, run: Run) -> None:
    directory: Path | None = session.config.getoption(RESULTS)
    try:
        if directory is not None:
            write(directory, run.results(), run.scrubber)
    except ConformanceError as error:
        pytest.exit(safe(session.config, str(error)), returncode=2)


def _reason(session: pytest.Session) -> str:
    """Return why a run ended before its last item; empty if it did not."""
    if ended := _ENDS.get(session.exitstatus):
        return ended
    started = session.config.stash.get(STARTED, 0)
    if started < len(session.items):
        why = session.shouldfail or session.shouldstop or "no item was to run"
        return f"{started} of {len(session.items)} items ran: {why}"
    return ""


def _selection(session: pytest.Session, run: Run) -> Selection:
    """Return what the run selects of all cases, and of all items as far as they were collected."""
    played = {(case[0].name, case[1]) for item in session.items if (case := case_of(item)) is not None}
    every, items = [*run.cases()], len(session.items)
    collected = session.config.stash.get(COLLECTED, items)
    given = [*_filters(session.config)]
    is_by_path = session.config.args_source is pytest.Config.ArgsSource.ARGS
    if len(played) == len(every) and items == collected and not is_by_path:
        return Selection(len(every), len(every), items, collected)
    total = None if is_by_path or run.options.variant else collected
    return Selection(len(played), len(every), items, total, tuple(given or ["by a conftest.py or plugin"]))


def _filters(config: pytest.Config) -> Iterator[str]:
    """Yield the options that select items, as on the command line; of a path only its name: others may read it."""
    options = config.option
    for name, value in (("-k", options.keyword), ("-m", options.markexpr)):
        if value:
            yield f"{name} {quote(value)}"
    yield from [f"--deselect {quote(_without_folder(each))}" for each in options.deselect or ()]
    for name in ("last-failed", "stepwise"):
        if getattr(options, {"last-failed": "lf"}.get(name, name), False):
            yield f"--{name}"
    if config.getoption(ONLY_UNKNOWN):
        yield "--only-unknown"
    if config.getoption(VARIANT):
        yield f"--variant {config.getoption(VARIANT)}"
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        yield from map(_without_folder, config.args)


def _without_folder(item: str) -> str:
    """Return the id of an item, or a path, without its folder."""
    file, separator, rest = item.partition("::")
    return f"{Path(file).name}{separator}{rest}"
