"""The provider follows every rule that a scenario promises to test, and breaks no other rule."""

import pytest

from conformance.results import Status
from conformance.results.comparisons import COMPARISONS
from conformance.results.runs import Case
from conformance.suite.comparisons import notice
from conformance.suite.failures import (
    follows_from_end,
    report_on_end,
    report_on_rule,
    summary_of_probe,
    summary_of_recommendation,
    summary_of_rule,
    unmet_recommendations,
)
from conformance.suite.play import promised
from conformance.suite.pytest_config import RUN, warn


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one item for each case, and one for each rule that its scenario promises to test."""
    run = metafunc.config.stash.get(RUN, None)
    if run is None:
        message = "the suites need a provider: pytest --provider=deepseek"
        raise pytest.UsageError(message)
    cases = list(run.chosen_cases())
    if "rule" in metafunc.fixturenames:
        pairs = [(each, rule) for each in cases for rule in promised(*each, run.profile.wire)]
        ids = [f"{scenario.name}.{variant}-{rule}" for (scenario, variant), rule in pairs]
        metafunc.parametrize(("case", "rule"), pairs, ids=ids, indirect=["case"])
    else:
        metafunc.parametrize("case", cases, ids=[f"{each.name}.{variant}" for each, variant in cases], indirect=True)


def test_scenario_is_played_to_its_end(case: Case, request: pytest.FixtureRequest) -> None:
    """The provider and its model play the scenario to its end, as scripted where the model has a script.

    A case that ends early fails here, once and with the cause. What follows from the cause is skipped. Of several runs
    the model may end some: that is a rate, and only a rate of 0 is a failure.
    """
    if case.is_inconclusive:
        pytest.skip(case.note)
    if case.is_unreadable:
        pytest.fail(case.note, pytrace=False)
    if case.note and not (case.is_ended_by_model and case.is_played_through):
        pytest.fail(report_on_end(case), pytrace=False)
    run = request.config.stash[RUN]
    differing = [each for each in case.probes if each.name in COMPARISONS and each.status is Status.FAILED]
    reasons = {each.name: run.expected_failure(case, f"probes/{each.name}") for each in differing}
    if unexpected := [summary_of_probe(each) for each in differing if not reasons[each.name]]:
        pytest.fail("\n".join(unexpected), pytrace=False)
    if differing:
        seen = [f"{reasons[each.name]} Seen: {summary_of_probe(each)}" for each in differing]
        pytest.xfail("; ".join(seen))


def test_rule(case: Case, rule: str, request: pytest.FixtureRequest) -> None:
    """A promised rule found something to check, and the provider follows it.

    An expected failure is reported as xfail, and fails if the rule passes.
    """
    run = request.config.stash[RUN]
    (outcome,) = (each for each in case.outcomes if each.rule == rule)
    if outcome.status is Status.NOT_APPLICABLE:
        pytest.skip(case.note or outcome.reason)
    if follows_from_end(case, outcome.status):
        pytest.skip(f"follows from: {case.note}")
    if summary := summary_of_rule(outcome):
        if outcome.status is not Status.ERRORED and (known := run.expected_failure(case, rule)):
            pytest.xfail(f"{known} Seen: {summary}")
        pytest.fail(report_on_rule(outcome, case.note), pytrace=False)
    if stale := run.unexpected_pass(case, rule):
        pytest.fail(stale, pytrace=False)


def test_no_other_rule_is_broken(case: Case, request: pytest.FixtureRequest) -> None:
    """The provider breaks no rule, promised or not, but for expected failures.

    Recommendations that it does not meet become warnings, and failures with `--conformance-strict`.
    """
    run = request.config.stash[RUN]
    if follows_from_end(case, Status.FAILED):
        pytest.skip(f"follows from: {case.note}")
    for outcome in unmet_recommendations(case):
        warn(request.node, f"{case.name}: {summary_of_recommendation(outcome)}")
    for text in filter(None, map(notice, case.probes)):
        warn(request.node, f"{case.name}: {text}")
    failed = [
        outcome for outcome in case.outcomes if summary_of_rule(outcome) and not follows_from_end(case, outcome.status)
    ]
    if run.options.strict:
        failed += unmet_recommendations(case)
    reasons = {each.rule: run.expected_failure(case, each.rule) for each in failed if each.status is not Status.ERRORED}
    unexpected = [each for each in failed if not reasons.get(each.rule)]
    if unexpected:
        pytest.fail("\n\n".join([report_on_rule(each, case.note) for each in unexpected]), pytrace=False)
    if failed:
        known = [
            f"{reasons[each.rule]} Seen: {summary_of_rule(each) or summary_of_recommendation(each)}" for each in failed
        ]
        pytest.xfail("; ".join(known))
