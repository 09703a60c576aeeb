"""What `pytest --only-unknown` prints before it sends anything, and the file that it leaves."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from conformance import artifacts
from conformance.errors import ConformanceError
from conformance.evidence.settled import answers, content, file_name
from conformance.pytest_output import safe
from conformance.reporting.text import plural, printable
from conformance.suite.pytest_config import RESULTS
from conformance.suite.recorder import host_of
from conformance.suite.run import Run

_MONEY: Final = "Profiles name no prices, so what this costs in money is not known here."


def announce(session: pytest.Session, run: Run) -> None:
    """Print what is open, what settles it and the ceilings; end the run with code 5 if a request can settle nothing.

    Raises UsageError if there is no place for the file.
    """
    if not run.options.plan and session.config.getoption(RESULTS) is None:
        raise pytest.UsageError("--only-unknown writes the exchanges to a file: add --results DIR")
    found = run.unknowns
    title = f"{run.profile.name}, {run.model}"
    if not found.open:
        message = f"{title}: no core fact is unknown or contested; nothing is sent"
        pytest.exit(message, returncode=pytest.ExitCode.NO_TESTS_COLLECTED)
    lines = [f"{title}: {len(found.open)} claims of core facts are unknown or contested:", *found.lines()]
    if not found.cases:
        message = "\n".join([*lines, "no request of the suites settles any of them; nothing is sent"])
        pytest.exit(message, returncode=pytest.ExitCode.NO_TESTS_COLLECTED)
    plan = run.plan(found.cases)
    most = plan.most_requests
    ceiling = f"At most {most} requests with about {plan.most_tokens:,} tokens"
    lines += [f"{ceiling}, and {most * plan.reply_tokens:,} tokens of replies. {_MONEY}"]
    run.limit(most)
    _write(session, lines)


def keep(session: pytest.Session, run: Run) -> None:
    """Write the exchanges of the run to its file; none if nothing was answered."""
    directory: Path | None = session.config.getoption(RESULTS)
    if directory is None or not run.kept or run.options.plan:
        return
    path = directory / file_name(run.profile.name)
    host = host_of(run.options, run.profile)
    try:
        artifacts.write(path, content(run, host))
    except ConformanceError as error:
        pytest.exit(safe(session.config, str(error)), returncode=2)
    lines = ["", "What was unknown or contested, and how it was answered:"]
    lines += [f"  {name}: {answer}" for name, answer in answers(path)]
    lines += [f"{plural(len(run.kept), 'exchange')} without secrets: "]
    lines += ["`conformance evidence add` checks the file; CONTRIBUTING.md says how to hand it in."]
    _write(session, lines, printable(str(path)))


def _write(session: pytest.Session, lines: Sequence[str], path: str = "") -> None:
    """Write lines; `path`, behind the first that ends with a colon and a blank, is the user's own and no secret."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        for line in lines:
            reporter.write_line(safe(session.config, line) + (path if line.endswith(": ") else ""))
