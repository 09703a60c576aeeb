"""Every recorded exchange of the public index follows the rules about providers."""

import pytest

from conformance.evidence.recorded_run import PLUGIN, Played, RecordedRun, failed
from conformance.results import Level
from conformance.suite.failures import report_on_rule, summary_of_recommendation, summary_of_rule
from conformance.suite.pytest_config import warn


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one item for each recording."""
    played = _run(metafunc.config).played
    metafunc.parametrize("recording", played, ids=[each.name for each in played])


def test_recording_follows_every_rule(recording: Played, request: pytest.FixtureRequest) -> None:
    """The provider broke no rule in this exchange, but for expected failures and what was changed in a fixture.

    Recommendations that it did not meet become warnings, and failures with `--conformance-strict`.
    """
    run = _run(request.config)
    must, should = failed(recording, Level.MUST), failed(recording, Level.SHOULD)
    for outcome in should:
        warn(request.node, f"{recording.name}: {summary_of_recommendation(outcome)}")
    broken = must + (should if run.strict else [])
    reasons = {each.rule: run.expected(recording, each.rule) for each in broken}
    if unexpected := [each for each in broken if not reasons[each.rule]]:
        place = f"{recording.recording.link} #{recording.recording.number}"
        pytest.fail("\n\n".join([place, *map(report_on_rule, unexpected)]), pytrace=False)
    if broken:
        seen = [f"{reasons[each.rule]} Seen: {summary_of_rule(each) or each.rule}" for each in broken]
        pytest.xfail("; ".join(seen))


def _run(config: pytest.Config) -> RecordedRun:
    plugin = config.pluginmanager.get_plugin(PLUGIN)
    if plugin is None:
        message = "the recordings need a provider: pytest --provider=deepseek --evidence recorded"
        raise pytest.UsageError(message)
    run: RecordedRun = plugin.run
    return run
