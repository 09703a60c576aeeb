"""Every rule that a scenario promises holds of the provider, and no other is broken beside."""

import pytest

from conformance.harness.provider import promised
from conformance.harness.stash import RUN
from conformance.results import Case, Level, Outcome, Status


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one item for each case and each rule that its scenario promises to put to the test."""
    run = metafunc.config.stash.get(RUN, None)
    if run is None:
        message = "the suites need a provider: pytest --provider=deepseek"
        raise pytest.UsageError(message)
    cases = list(run.cases())
    if "rule" in metafunc.fixturenames:
        pairs = [(each, rule) for each in cases for rule in promised(*each)]
        ids = [f"{scenario.name}.{variant}-{rule}" for (scenario, variant), rule in pairs]
        metafunc.parametrize(("case", "rule"), pairs, ids=ids, indirect=["case"])
    else:
        metafunc.parametrize("case", cases, ids=[f"{each.name}.{variant}" for each, variant in cases], indirect=True)


def test_rule(case: Case, rule: str) -> None:
    """A promised rule found something to judge, and no departure that the wire forbids."""
    (outcome,) = (each for each in case.outcomes if each.rule == rule)
    if outcome.status is Status.NOT_APPLICABLE:
        pytest.skip(outcome.reason)
    assert "" == fault(outcome)


def test_no_other_rule_is_broken(case: Case) -> None:
    """No rule at all is broken, promised or not, and none broke down."""
    assert [] == [words for outcome in case.outcomes if (words := fault(outcome))]


def fault(outcome: Outcome) -> str:
    """Return what is wrong with an outcome, in words; empty where nothing is. A SHOULD is shown in the matrix alone."""
    if outcome.status is Status.FAILED and outcome.level is Level.MUST:
        found = outcome.findings[0]
        return f"{outcome.rule}: {found.message} (at {found.at}); conformance explain {outcome.rule}"
    if outcome.status in (Status.UNTESTED, Status.ERRORED):
        return f"{outcome.rule}: {outcome.status.value}: {outcome.reason}"
    return ""
