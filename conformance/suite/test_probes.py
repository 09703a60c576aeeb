"""A provider does with each deviating request what its profile claims: refuses it in those words, or bears it."""

import pytest

from conformance.results import Case, Status
from conformance.suite.config_keys import RUN


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one item for each probe of each case."""
    run = metafunc.config.stash.get(RUN, None)
    if run is None:
        message = "the suites need a provider: pytest --provider=deepseek"
        raise pytest.UsageError(message)
    pairs = [(each, probe.name) for each in run.cases() for probe in each[0].probes]
    ids = [f"{scenario.name}.{variant}-{probe}" for (scenario, variant), probe in pairs]
    metafunc.parametrize(("case", "probe"), pairs, ids=ids, indirect=["case"])


def test_probe(case: Case, probe: str, request: pytest.FixtureRequest) -> None:
    """What was observed is what was claimed; where nothing is claimed, what was observed is only reported.

    What is known to be broken, and stands among the expected failures, is shown as such, and fails where it passes.
    """
    probed = next((each for each in case.probes if each.name == probe), None)
    if probed is None:
        pytest.skip("not sent: the request holds nothing to change")
    if probed.status is Status.NOT_APPLICABLE:
        pytest.skip(f"nothing is claimed of this; observed: {probed.observed}")
    wrong = f"expected {probed.expected or 'to get there'}, observed {probed.observed}"
    if probed.status is not Status.PASSED and (known := request.config.stash[RUN].excuse(case, f"probes/{probe}")):
        pytest.xfail(f"{known} Seen: {wrong}")
    assert probed.status is Status.PASSED, wrong
    if untrue := request.config.stash[RUN].untrue(case, f"probes/{probe}"):
        pytest.fail(untrue, pytrace=False)
