"""What a pytest run of the suites prints: without secrets, and without what controls a terminal or a workflow."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.core_facts import CoreFact, untested
from conformance.gate import GateResult
from conformance.reporting.best_known import best_known
from conformance.reporting.matrix import PROBES, Cell, cells
from conformance.reporting.renderers.gate import render as render_gate
from conformance.reporting.renderers.run_end import links
from conformance.reporting.renderers.run_end import render as render_end
from conformance.reporting.renderers.run_end import render_core_facts as render_facts
from conformance.reporting.renderers.terminal import render
from conformance.reporting.text import printable_lines
from conformance.results.calibration import calibration_of
from conformance.results.runs import Case
from conformance.secrets import Unscrubbable, scrubber
from conformance.suite.cassettes import warnings
from conformance.suite.pytest_config import DESELECTED, IS_DONE, MATRIX, RESULTS, RUN, width_of
from conformance.suite.run import Run
from conformance.suite.run_claims import answer_line
from conformance.suite.visible_faults import visible_faults

_SUITE: Final = Path(__file__).parent / "suite"
_LOGGERS: Final = ("httpx", "httpcore", "hpack", "vcr")
"""Loggers that name URLs and headers of requests, with passwords and keys."""

_DISCOVER: Final = (
    "The core facts cannot be tested without these claims; `conformance provider discover` finds their values."
)


def safe(config: pytest.Config, text: str) -> str:
    """Return a text as it may be printed."""
    run = config.stash.get(RUN, None)
    secrets = (run.scrubber if run is not None else None) or scrubber()
    try:
        return printable_lines(secrets.text(text))
    except Unscrubbable as error:
        return str(error)


def clean(config: pytest.Config, report: pytest.TestReport) -> None:
    """Replace what a report says by what may be printed; what is safe already keeps its colours."""
    said = report.longrepr
    if isinstance(said, tuple):
        _, _, reason = said
        # Of one place, so that pytest counts what was skipped for one reason in one line.
        place: Any = (str(_SUITE), None, safe(config, reason))
        report.longrepr = place
    elif said is not None and (shown := safe(config, str(said))) != str(said):
        report.longrepr = shown
    if hasattr(report, "wasxfail"):
        report.wasxfail = safe(config, report.wasxfail)
    report.sections = [(name, safe(config, content)) for name, content in report.sections]


def keep_http_logs_quiet() -> None:
    """Keep the logs of requests out of what pytest shows; they hold what must not be printed."""
    for name in _LOGGERS:
        logging.getLogger(name).propagate = False


def is_checked(case: Case) -> bool:
    """Return whether any rule judged something in a case."""
    return any(outcome.judged for outcome in case.outcomes)


def untested_facts(run: Run, config: pytest.Config) -> tuple[CoreFact, ...]:
    """Return the core facts that a whole run promised and did not test; with some items deselected, none."""
    return () if config.stash.get(DESELECTED, False) else untested(run.core_facts())


def stale_entries(run: Run, config: pytest.Config) -> GateResult:
    """Return which expected failures no longer fail; with some items deselected, only those of cases that ran."""
    return run.stale_entries(deselected=config.stash.get(DESELECTED, False))


def summary(reporter: pytest.TerminalReporter, run: Run, config: pytest.Config) -> None:
    """Print the core facts of a run, what does not conform or the matrix, and what is wrong with the run as a whole."""

    def write(text: str) -> None:
        reporter.write_line(safe(reporter.config, text))

    results = run.results()
    if results.cases:
        write("")
        if run.answer is not None:
            write(answer_line(results.model, run.answer, run.claims))
            write("")
        facts = run.core_facts()
        write(render_facts(facts, run.profile.title, results.model, width_of(config), _elsewhere(run, facts)))
        write("")
        _write_checks(write, config, run)
        _write_visible_faults(write, config, run)
    if run.stopped:
        reporter.section("Stopped")
        write(f"{run.stopped}; what was not asked is untested.")
    is_done = config.stash.get(IS_DONE, False)
    if run.options.record and (lines := [*warnings(run, is_done=is_done)]):
        reporter.section("Not recorded")
        for line in lines:
            write(line)
    _write_claims(reporter, write, run)
    lacking, stale = untested_facts(run, config), stale_entries(run, config)
    if lacking and results.cases:
        reporter.section("Core facts that were not tested")
        for fact in lacking:
            write(f"{fact.title}: {'; '.join(fact.reasons)}")
    if not stale.passes and results.cases:
        reporter.section("Stale expected failures")
        write("".join(render_gate(stale, lambda _colour, text: text)).rstrip("\n"))


def _elsewhere(run: Run, facts: Sequence[CoreFact]) -> dict[str, str]:
    """Return what others saw of the claims of core facts, beside this run."""
    calibration = calibration_of(run.profile)
    names = {name for fact in facts for name in fact.claimed}
    return {name: best_known(calibration, run.profile, name, run.model) for name in names}


def _write_visible_faults(write: Callable[[str], None], config: pytest.Config, run: Run) -> None:
    """Write which known faults a run against a real endpoint can see."""
    if run.options.is_live:
        played = {case.name for case in run.results().cases if is_checked(case)}
        is_whole = not config.stash.get(DESELECTED, False)
        write(visible_faults(run.profile.wire, played, width_of(config), is_whole=is_whole))


def _write_claims(reporter: pytest.TerminalReporter, write: Callable[[str], None], run: Run) -> None:
    """Write which claims of the user are wrong, and which are missing."""
    missing = run.missing_claims() if run.results().cases else ()
    for title, claims, fix in (
        ("Contradicted claims", run.contradicted_claims(), "To fix it, correct the claim, or omit --claim."),
        ("Missing claims", missing, _DISCOVER),
    ):
        if claims:
            reporter.section(title)
            for line in (*claims, fix):
                write(line)


def _write_checks(write: Callable[[str], None], config: pytest.Config, run: Run) -> None:
    """Write the matrix, or only what does not conform."""
    results = run.results()
    found = cells(results, run.profile, run.confirmed())
    width = width_of(config)
    if config.getoption(MATRIX):
        write(render(results, found, run.profile.title, width))
        return
    cases = {case.name: case for case in results.cases}

    def expected(cell: Cell) -> str:
        name = f"{PROBES}/{cell.row.partition(': ')[2]}" if cell.family == PROBES else cell.row
        reasons = [run.expected_failure(cases[case], name) for case in cell.cases]
        return reasons[0] if reasons and all(reasons) else ""

    shown = links(results.subject, config.getoption(RESULTS))
    write(render_end(results, found, shown, width, expected))
