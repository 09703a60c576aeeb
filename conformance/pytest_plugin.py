"""The pytest plugin: `pytest --provider=P` plays the suites against a provider and ends with its matrix.

Every pytest run of an environment loads this module, so it imports nothing but pytest until --provider is given.
"""

from __future__ import annotations

import importlib.util
from datetime import UTC, datetime
from pathlib import Path

import pytest

from conformance.harness.stash import RUN


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options; --base-url is shared with pytest-base-url where that is installed."""
    group = parser.getgroup("conformance", "conformance of chat completions providers")
    group.addoption("--provider", metavar="NAME", help="play the suites of this provider, e.g. deepseek")
    group.addoption("--model", metavar="NAME", default="", help="the provider's model; by default the profile's own")
    group.addoption("--live", action="store_true", help="ask the provider itself, with its key, not the cassettes")
    group.addoption(
        "--record", action="store_true", help="record cassettes: with --live of the provider, else of the simulator"
    )
    group.addoption("--results", metavar="DIR", type=Path, help="write what was observed to DIR/<provider>.json")
    group.addoption(
        "--cassettes", metavar="DIR", type=Path, help="the folder of cassettes; by default the project's own"
    )
    shared = importlib.util.find_spec("pytest_base_url") is not None and not pluginmanager.is_blocked("base_url")
    if not shared:
        group.addoption("--base-url", metavar="URL", default="", help="ask this server, e.g. http://127.0.0.1:8000/v1")


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the run; without a path on the command line the suites of this package are collected."""
    provider = config.getoption("--provider")
    if not provider:
        return
    # Imported here because a run without --provider must not pay for it.
    from conformance.errors import ConformanceError
    from conformance.harness.run import Options, Run
    from conformance.resources import folder

    options = Options(
        provider=provider,
        model=config.getoption("--model"),
        live=config.getoption("--live"),
        record=config.getoption("--record"),
        base_url=config.getoption("--base-url") or "",
        cassettes=config.getoption("--cassettes") or folder("cassettes"),
        today=datetime.now(tz=UTC).date().isoformat(),
    )
    try:
        config.stash[RUN] = Run(options)
    except ConformanceError as error:
        raise pytest.UsageError(str(error)) from None
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args[:] = [str(Path(__file__).parent / "suites")]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the matrix at the end of the run."""
    run = config.stash.get(RUN, None)
    if run is None:
        return
    from conformance.matrix import cells
    from conformance.report.terminal import render

    results = run.results()
    terminalreporter.write_line("")
    terminalreporter.write_line(render(results, cells(results, run.profile), run.profile.title))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the results, and close what the run started; a run that judged nothing is not a success."""
    run = session.config.stash.get(RUN, None)
    if run is None:
        return
    run.close()
    directory = session.config.getoption("--results")
    if directory is not None:
        run.write_results(directory)
    if session.exitstatus == pytest.ExitCode.OK and not any(case.outcomes for case in run.results().cases):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
