"""The mirror test: the provider harness against the simulator yields what the profile claims.

For three profiles the two talk over real HTTP, so that client, server and framing are part of it. For all others the
simulator is asked in process, by `Simulator.send`, which keeps its answer as a client would: what differs between
profiles is what the simulator says, not how it travels.
"""

from collections.abc import Iterator

import pytest

from conformance import profiles, scenarios
from conformance.harness.provider import Subject, play
from conformance.harness.simulator import Simulator, simulated
from conformance.results import Case, Evidence, Level, Status
from conformance.transport.client import Client, Endpoint

OVER_HTTP = ("deepseek", "groq", "openrouter")
CASES = [(name, variant) for name in scenarios.names() for variant in scenarios.load(name).variants]


@pytest.fixture(scope="module", params=profiles.names())
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    profile = profiles.load(request.param)
    if profile.name not in OVER_HTTP:
        yield Subject(profile, profile.model, Simulator(profile).send, Evidence.LIVE)
        return
    with simulated(profile) as url, Client(Endpoint(f"{url}/v1")) as client:
        yield Subject(profile, profile.model, client.send, Evidence.LIVE)


@pytest.fixture(scope="module", params=CASES, ids=".".join)
def case(request: pytest.FixtureRequest, subject: Subject) -> Case:
    name, variant = request.param
    played = play(scenarios.load(name), variant, subject)
    if played.note.startswith("not played"):
        assert scenarios.load(name).unmet(subject.claims)
        pytest.skip(played.note)
    return played


def test_no_rule_is_broken_errored_or_left_untested(case: Case) -> None:
    wrong = {
        outcome.rule: outcome.reason or outcome.findings[0].message
        for outcome in case.outcomes
        if outcome.status in (Status.ERRORED, Status.UNTESTED)
        or (outcome.status is Status.FAILED and outcome.level is Level.MUST)
    }
    assert {} == wrong


def test_every_probe_ends_as_the_profile_claims(case: Case) -> None:
    wrong = {
        probe.name: (probe.expected, probe.observed)
        for probe in case.probes
        if probe.status not in (Status.PASSED, Status.NOT_APPLICABLE)
    }
    assert {} == wrong


def test_a_scenario_runs_to_its_end(case: Case) -> None:
    assert "" == case.note


def test_what_the_simulator_says_is_never_taken_for_the_provider(case: Case) -> None:
    assert Evidence.SIMULATED is case.evidence
