"""The provider answers each deviating request as its profile claims: it rejects it with that error, or accepts it."""

import pytest

from conformance import scenarios
from conformance.core_facts import REASONING_RULE
from conformance.results import Status
from conformance.results.runs import Case
from conformance.suite.failures import follows_from_end, report_on_probe, summary_of_probe
from conformance.suite.play import NO_REASONING
from conformance.suite.pytest_config import RUN


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one item for each probe of each case."""
    run = metafunc.config.stash.get(RUN, None)
    if run is None:
        message = "the suites need a provider: pytest --provider=deepseek"
        raise pytest.UsageError(message)
    pairs = [(each, probe.name) for each in run.chosen_cases() for probe in each[0].probes]
    ids = [f"{scenario.name}.{variant}-{probe}" for (scenario, variant), probe in pairs]
    metafunc.parametrize(("case", "probe"), pairs, ids=ids, indirect=["case"])


def test_probe(case: Case, probe: str, request: pytest.FixtureRequest) -> None:
    """The provider does what its profile claims; if the profile claims nothing, its answer is only reported.

    An expected failure is reported as xfail, and fails if the probe passes.
    """
    run = request.config.stash[RUN]
    result = next((each for each in case.probes if each.name == probe), None)
    if result is None:
        pytest.skip("not sent: the request has nothing to change")
    if result.is_inconclusive:
        pytest.skip(result.observed)
    if follows_from_end(case, result.status):
        pytest.skip(f"follows from: {case.note}")
    if result.observed == NO_REASONING:
        pytest.skip(f"follows from the failure of {REASONING_RULE}: {NO_REASONING}")
    if result.status is Status.NOT_APPLICABLE:
        # Without the words of a refusal, which the matrix and the results have.
        pytest.skip(f"the profile claims nothing about this; observed: {result.observed.partition(': ')[0]}")
    if result.status is not Status.PASSED:
        if known := run.expected_failure(case, f"probes/{probe}"):
            pytest.xfail(f"{known} Seen: {summary_of_probe(result)}")
        (sent,) = (each for each in scenarios.load(case.scenario).probes if each.name == probe)
        pytest.fail(report_on_probe(result, sent, run.profile.name, case.note), pytrace=False)
    if stale := run.unexpected_pass(case, f"probes/{probe}"):
        pytest.fail(stale, pytrace=False)
