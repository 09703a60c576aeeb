"""The part of the pytest plugin for tests of clients: a simulated provider, and the marker that plays its scenarios.

Every pytest run of an environment loads this module, so it imports nothing but pytest until a fixture or the marker is
used.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from conformance.adapters.simulation import Simulation

MARKER: Final = "conformance"
SIMULATION: Final = "simulation"
"""The fixture that the marker and `AdapterSuite` parametrize."""

_OPENED: pytest.StashKey[list[Simulation]] = pytest.StashKey()
"""The simulations of a test that are checked at its end."""


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(provider, scenario='*', protocol='', variant='', model='', strict=False, check=True): play a client "
        f"through scenarios of a simulated provider; the test gets each one as the fixture `{SIMULATION}`",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test with the marker, or one of a suite for adapters, a case for each scenario and variant."""
    if SIMULATION not in metafunc.fixturenames:
        return
    selection = _selection(metafunc)
    if selection is None:
        return
    # Imported here and below because a run without such tests must not pay for it.
    from conformance.errors import ConformanceError
    from conformance.testing import cases

    try:
        found = cases(selection())
    except ConformanceError as error:
        raise pytest.Collector.CollectError(f"{metafunc.definition.nodeid}: {error}") from None
    metafunc.parametrize(SIMULATION, found, indirect=True)


def _selection(metafunc: pytest.Metafunc) -> Callable[[], Mapping[str, Any]] | None:
    """Return what names the cases of a test; None for a test that is none of ours."""
    of_suite: Callable[[], Mapping[str, Any]] | None = getattr(metafunc.cls, "_conformance_selection", None)
    marker = metafunc.definition.get_closest_marker(MARKER)
    if of_suite is not None or marker is None or "provider" not in marker.kwargs:
        return of_suite
    return lambda: marker.kwargs


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Check what a test let its client do and did not check itself; a test that failed says enough."""
    yield
    for simulation in item.stash.get(_OPENED, ()):
        simulation.assert_nothing_broken()


@pytest.fixture
def simulator(request: pytest.FixtureRequest) -> Iterator[Callable[..., Simulation]]:
    """Return a function that simulates a strict provider for a client, and checks the requests that the client sends.

        def test_reasoning_survives_a_tool_turn(simulator):
            simulation = simulator("interleaved-thinking", provider="deepseek", stream=True)
            agent = make_agent(base_url=simulation.base_url, model=simulation.model, tools=simulation.tools)
            simulation.assert_conformant([agent.ask(prompt) for prompt in simulation.prompts])

    `conformance explain scenarios` lists the scenarios. Replies are streamed unless `stream=False`: use that for a
    client that cannot stream. `protocol` names another wire of the provider: messages, responses, gemini. With
    `strict=True`, a request that the provider rejects gets the provider's error as its reply; without, it gets the
    scripted reply and is only checked afterwards. A call raises UnknownName for an unknown scenario or provider, and
    Unusable if the provider's claims rule the scenario out.

    A test that does not call `assert_conformant` fails, too, if its client broke a MUST; `check=False` leaves that out.

    Each of `simulation.tools` has `name`, `description`, `parameters` (a JSON Schema) and `definition`, its entry in
    `tools` of chat completions; `simulation.tool_definitions` has all of them in the form of the wire.
    `tool.run(arguments)` takes an object or its JSON text, waits the call's delay and returns the
    result as text, or raises ToolError; `await tool.arun(arguments)` does the same; `tool.denies(arguments)` returns
    the user's reason for denying the call, or None. To make tools of your own, find the call in `tool.results`, a list
    of objects with `arguments`, `text`, `delay_ms`, `fails` and `denied`; for other arguments return `tool.otherwise`.
    """
    # Imported here because a test that does not use the fixture must not pay for it.
    from conformance import scenarios
    from conformance.simulator.sessions import serving_sessions
    from conformance.testing import ClientCase, opened, profile_of

    with serving_sessions() as server:

        def play(
            scenario: str,
            *,
            provider: str,
            protocol: str = "",
            model: str = "",
            stream: bool = True,
            strict: bool = False,
            check: bool = True,
        ) -> Simulation:
            profile, variant = profile_of(provider, protocol), "stream" if stream else "plain"
            case = ClientCase(profile, scenarios.load(scenario), variant, model, strict=strict, check=check)
            return _noted(request.node, opened(server, case), check=check)

        yield play


@pytest.fixture
def simulation(request: pytest.FixtureRequest) -> Iterator[Simulation]:
    """Play one scenario of a simulated provider, of those that the marker `conformance` names.

        @pytest.mark.conformance(provider="deepseek", scenario="ids-*")
        def test_agent(simulation):
            agent = make_agent(simulation.base_url, simulation.api_key, simulation.model, simulation.tools)
            simulation.assert_conformant([agent.ask(prompt) for prompt in simulation.prompts])

    The test runs once for each scenario and variant (plain and streamed: `simulation.stream`). `provider` and
    `scenario` are a name, a glob for scenarios, or a list; `protocol` is a wire of the provider (chat, messages,
    responses, gemini), `variant` one of plain and stream; `model`, `strict` and `check` are as for `simulator`, whose
    help says what a simulation has.
    """
    case = getattr(request, "param", None)
    if case is None:
        message = "the fixture `simulation` needs @pytest.mark.conformance(provider=…) at the test"
        raise pytest.UsageError(message)
    from conformance.simulator.sessions import serving_sessions
    from conformance.testing import opened

    with serving_sessions() as server:
        yield _noted(request.node, opened(server, case), check=case.check)


def _noted(item: pytest.Item, simulation: Simulation, *, check: bool) -> Simulation:
    if check:
        item.stash.setdefault(_OPENED, []).append(simulation)
    return simulation
