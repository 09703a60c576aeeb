"""Every rule that a scenario promises holds of the provider, and no other is broken beside."""

import pytest

from conformance.results import Case, Level, Outcome, Status
from conformance.suite.config_keys import RUN
from conformance.suite.play import promised


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


def test_rule(case: Case, rule: str, request: pytest.FixtureRequest) -> None:
    """A promised rule found something to judge, and no departure that the wire forbids.

    What is known to be broken, and stands among the expected failures, is shown as such, and fails where it passes.
    """
    (outcome,) = (each for each in case.outcomes if each.rule == rule)
    if outcome.status is Status.NOT_APPLICABLE:
        pytest.skip(outcome.reason)
    words = fault(outcome)
    if outcome.status is not Status.ERRORED and words and (known := request.config.stash[RUN].excuse(case, rule)):
        pytest.xfail(f"{known} Seen: {words}")
    assert "" == words
    if untrue := request.config.stash[RUN].untrue(case, rule):
        pytest.fail(untrue, pytrace=False)


def test_no_other_rule_is_broken(case: Case, request: pytest.FixtureRequest) -> None:
    """No rule at all is broken, promised or not, and none broke down; but for what is known and expected."""
    run = request.config.stash[RUN]
    faults = {outcome.rule: words for outcome in case.outcomes if (words := fault(outcome))}
    ours = {outcome.rule for outcome in case.outcomes if outcome.status is Status.ERRORED}
    known = {rule: why for rule in faults if rule not in ours and (why := run.excuse(case, rule))}
    assert [] == [words for rule, words in faults.items() if rule not in known]
    if known:
        pytest.xfail("; ".join([f"{why} Seen: {faults[rule]}" for rule, why in sorted(known.items())]))


def fault(outcome: Outcome) -> str:
    """Return what is wrong with an outcome, in words; empty where nothing is. A SHOULD is shown in the matrix alone."""
    if outcome.status is Status.FAILED and outcome.level is Level.MUST:
        found = outcome.findings[0]
        return f"{outcome.rule}: {found.message} (at {found.at}); conformance explain {outcome.rule}"
    if outcome.status in (Status.UNTESTED, Status.ERRORED):
        return f"{outcome.rule}: {outcome.status.value}: {outcome.reason}"
    return ""
