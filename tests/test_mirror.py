"""The mirror test: the suite against the simulator yields what the profile claims.

Three profiles are tested over real HTTP, with client, server and framing. The others are tested in process with
`Simulator.send`, since only the content of the replies differs between profiles.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from conformance import profiles, scenarios
from conformance.profiles import Profile
from conformance.results import Evidence, Level, Status
from conformance.results.runs import Case
from conformance.simulator import Simulator, simulated
from conformance.suite.play import play
from conformance.suite.rehearsal import problems
from conformance.suite.turns import Subject
from conformance.transport.client import Client, Endpoint
from tests.loops import every
from tests.sampling import sampled, some

OVER_HTTP = ("deepseek", "groq", "openrouter")
LOADED = {name: profiles.load(name) for name in profiles.names()}
SCENARIOS = [scenario for name in scenarios.names() if not (scenario := scenarios.load(name)).for_clients]


def playable() -> list[object]:
    """Return each profile with each case that its claims allow, grouped by profile."""
    return [
        pytest.param(name, scenario.name, variant, id=f"{name}-{scenario.name}.{variant}")
        for name, profile in LOADED.items()
        for scenario in SCENARIOS
        if scenario.unmet(profile.at(profile.model)) is None
        for variant in scenario.variants
    ]


Played = Callable[[str, str, str], Case]


@pytest.fixture(scope="module")
def played() -> Iterator[Played]:
    """Return a function that plays a variant of a scenario against a profile, each once."""
    with ExitStack() as stack:

        @cache
        def subject(name: str) -> Subject:
            profile = LOADED[name]
            if name not in OVER_HTTP:
                return Subject(profile, profile.model, Simulator(profile).send, Evidence.LIVE)
            client = stack.enter_context(Client(Endpoint(f"{stack.enter_context(simulated(profile))}/v1")))
            return Subject(profile, profile.model, client.send, Evidence.LIVE)

        @cache
        def case(name: str, scenario: str, variant: str) -> Case:
            return play(scenarios.load(scenario), variant, subject(name))

        yield case


every_playable_case = every(("name", "scenario", "variant"), sampled(playable(), 1, whole=["deepseek"], in_ci=2))


@every_playable_case
def test_no_rule_is_broken_errored_or_left_untested(name: str, scenario: str, variant: str, played: Played) -> None:
    case = played(name, scenario, variant)
    wrong = {
        outcome.rule: outcome.reason or outcome.findings[0].message
        for outcome in case.outcomes
        if outcome.status in (Status.ERRORED, Status.UNTESTED)
        or (outcome.status is Status.FAILED and outcome.level is Level.MUST)
    }
    assert {} == wrong


@every_playable_case
def test_every_probe_gets_the_answer_that_the_profile_claims(
    name: str, scenario: str, variant: str, played: Played
) -> None:
    case = played(name, scenario, variant)
    wrong = {
        probe.name: (probe.expected, probe.observed)
        for probe in case.probes
        if probe.status not in (Status.PASSED, Status.NOT_APPLICABLE)
    }
    assert {} == wrong


@every_playable_case
def test_a_scenario_runs_to_its_end(name: str, scenario: str, variant: str, played: Played) -> None:
    assert "" == played(name, scenario, variant).note


@every_playable_case
def test_replies_of_the_simulator_count_as_simulated(name: str, scenario: str, variant: str, played: Played) -> None:
    assert Evidence.SIMULATED is played(name, scenario, variant).evidence


@every("name", profiles.names())
def test_a_case_that_the_claims_rule_out_is_not_played_and_names_the_claim(name: str) -> None:
    profile = LOADED[name]
    silent = Subject(profile, profile.model, lambda _body: pytest.fail("nothing may be sent"), Evidence.LIVE)
    for scenario in SCENARIOS:
        unmet = scenario.unmet(silent.claims)
        if unmet is not None:
            case = play(scenario, "plain", silent)
            assert ((), ()) == (case.outcomes, case.probes)
            assert f"claims {unmet} = " in case.note


@pytest.mark.slow
@every(
    "section",
    some(
        [section for profile in LOADED.values() for section in profile.protocols.values()],
        9,
        lambda section: section.name,
        pytest.mark.exhaustive,
    ),
)
def test_on_each_other_wire_the_suite_finds_what_the_profile_claims(section: Profile) -> None:
    assert [] == list(problems(section))
