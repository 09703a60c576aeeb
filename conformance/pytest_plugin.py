"""The pytest plugin: `pytest --provider=P` plays the suites against a provider and ends with its matrix.

The fixture `simulator` is the other end: it plays a provider to a client, in the client's own tests. Every pytest run
of an environment loads this module, so it imports nothing but pytest until --provider is given, or the fixture is used.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.suite.config_keys import CHOSEN, RUN

if TYPE_CHECKING:
    from conformance.adapters.simulation import Simulation
    from conformance.gate import Judgement
    from conformance.scenarios import Scenario
    from conformance.suite.run import Run


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options; --base-url is shared with pytest-base-url where that is installed."""
    group = parser.getgroup("conformance", "conformance of chat completions providers")
    group.addoption("--provider", metavar="NAME", help="play the suites of this provider, e.g. deepseek")
    group.addoption("--model", metavar="NAME", default="", help="the provider's model; by default the profile's own")
    group.addoption("--live", action="store_true", help="ask the provider itself, with its key, not the cassettes")
    group.addoption(
        "--record", action="store_true", help="record cassettes: with --live of the provider, else of the simulator"
    )
    group.addoption("--plan", action="store_true", help="print what would be sent, and send nothing")
    group.addoption(
        "--max-requests", metavar="N", type=int, help="refuse to ask a provider for more than N requests (exit code 4)"
    )
    group.addoption(
        "--repeat", metavar="N", type=int, default=1, help="play each case N times; shows how reliable the model is"
    )
    group.addoption(
        "--expected",
        metavar="FILE",
        type=Path,
        help="the expected failures; by default the project's own where its own cassettes are replayed, else none",
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
    _refuse_what_cannot_be(config)
    # Imported here because a run without --provider must not pay for it.
    from conformance.errors import ConformanceError
    from conformance.resources import folder
    from conformance.suite.run import Options, Run, handed_over

    options = Options(
        provider=provider,
        model=config.getoption("--model"),
        live=config.getoption("--live"),
        record=config.getoption("--record"),
        base_url=config.getoption("--base-url") or "",
        cassettes=config.getoption("--cassettes") or folder("cassettes"),
        today=datetime.now(tz=UTC).date().isoformat(),
        plan=config.getoption("--plan"),
        max_requests=config.getoption("--max-requests"),
        expected=config.getoption("--expected"),
        repeat=config.getoption("--repeat"),
    )
    try:
        config.stash[RUN] = Run(handed_over(options))
    except ConformanceError as error:
        raise pytest.UsageError(str(error)) from None
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args[:] = [str(Path(__file__).parent / "suite")]


def _refuse_what_cannot_be(config: pytest.Config) -> None:
    if config.getoption("dist", "no") != "no" or hasattr(config, "workerinput"):
        message = "--provider plays each case in one process; leave -n away, since the results would be split"
        raise pytest.UsageError(message)
    if config.getoption("--repeat") < 1:
        message = f"--repeat: expected a number from 1 on, got {config.getoption('--repeat')}"
        raise pytest.UsageError(message)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Note that not everything is played, so that what is missing is no fault of the expected failures."""
    for item in items[:1]:
        item.config.stash[CHOSEN] = True


def pytest_collection_finish(session: pytest.Session) -> None:
    """Say what the chosen items will send, where that is asked for or costs something."""
    run = session.config.stash.get(RUN, None)
    if run is None or not (run.options.plan or run.options.asks):
        return
    cases = [case for item in session.items if (case := _case(item)) is not None]
    plan = run.plan({f"{scenario.name}.{variant}": (scenario, variant) for scenario, variant in cases}.values())
    requests = plan.requests * run.options.repeat
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        for line in plan.lines() if run.options.plan else [f"This run asks {plan.summary()}."]:
            reporter.write_line(line)
        if run.options.repeat > 1:
            reporter.write_line(f"Each case is played {run.options.repeat} times: {requests} requests.")
    most = run.options.max_requests
    if run.options.asks and most is not None and requests > most:
        message = f"{requests} requests are more than --max-requests {most} allows; choose fewer cases with -k"
        pytest.exit(message, returncode=pytest.ExitCode.USAGE_ERROR)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run no test where only the plan was asked for."""
    run = session.config.stash.get(RUN, None)
    return True if run is not None and run.options.plan else None


def _case(item: pytest.Item) -> tuple[Scenario, str] | None:
    spec = getattr(item, "callspec", None)
    found: tuple[Scenario, str] | None = spec.params.get("case") if spec is not None else None
    return found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the matrix at the end of the run."""
    run = config.stash.get(RUN, None)
    if run is None or run.options.plan:
        return
    from conformance.reporting.matrix import cells
    from conformance.reporting.renderers.terminal import render

    results = run.results()
    if not results.cases:
        return
    terminalreporter.write_line("")
    terminalreporter.write_line(render(results, cells(results, run.profile, run.confirmed()), run.profile.title))
    verdict = _verdict(run, config)
    if not verdict.passes:
        from conformance.reporting.renderers.gate import render as render_gate

        terminalreporter.section("expected failures that are none")
        terminalreporter.write("".join(render_gate(verdict, lambda _colour, text: text)))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the results, and close what the run started; a run that judged nothing is not a success."""
    run = session.config.stash.get(RUN, None)
    if run is None or run.options.plan:
        return
    run.close()
    directory = session.config.getoption("--results")
    if directory is not None:
        from conformance.results.files import write

        write(directory, run.results())
    if session.exitstatus == pytest.ExitCode.OK and not any(case.outcomes for case in run.results().cases):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
    if session.exitstatus == pytest.ExitCode.OK and not _verdict(run, session.config).passes:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _verdict(run: Run, config: pytest.Config) -> Judgement:
    return run.verdict(chosen=config.stash.get(CHOSEN, False))


@pytest.fixture
def simulator() -> Iterator[Callable[..., Simulation]]:
    """Return what plays a scenario to a client as a strict provider, and judges what the client sends back.

        def test_reasoning_survives_a_tool_turn(simulator):
            played = simulator("interleaved-thinking", provider="deepseek", stream=True)
            agent = make_agent(base_url=played.base_url, model=played.model, tools=played.tools)
            played.assert_conformant([agent.ask(prompt) for prompt in played.prompts])

    `conformance list scenarios` shows what can be played. With `strict` the provider's refusals are answered, instead
    of being judged afterwards alone. A call raises UnknownName for a name that nobody has, and Unusable where the
    provider's claims rule the scenario out.
    """
    # Imported here because a test that does not use the fixture must not pay for it.
    from conformance import profiles, scenarios
    from conformance.adapters.simulation import simulation
    from conformance.reporting.renderers.adapter import render
    from conformance.simulator.sessions import staged

    with staged() as stage:

        def play(
            scenario: str, *, provider: str, model: str = "", stream: bool = True, strict: bool = False
        ) -> Simulation:
            variant = "stream" if stream else "plain"
            session = stage.open(scenarios.load(scenario), profiles.load(provider), variant, model, strict=strict)
            return simulation(session, lambda told: render(told, lambda _colour, text: text))

        yield play
