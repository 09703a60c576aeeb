"""The project's own client passes every scenario, so a good client can."""

import io
import json
import runpy
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import conformance
from conformance import profiles, scenarios
from conformance.adapters.case import check_session, client_session
from conformance.adapters.job import job_of
from conformance.adapters.loop import DriverAnswer
from conformance.adapters.summary import grade
from conformance.simulator.sessions import SessionServer, serving_sessions
from tests.sampling import some

pytestmark = pytest.mark.slow

DRIVER = Path(conformance.__file__).parent / "adapters" / "sdks" / "reference" / "driver.py"
PROVIDERS = {"deepseek": ("plain", "stream"), "openrouter": ("stream",), "moonshot": ("stream",), "mistral": ("plain",)}
LOADED = {name: profiles.load(name) for name in PROVIDERS}
CASES = [
    (provider, name, variant)
    for provider, variants in PROVIDERS.items()
    for name in scenarios.names()
    for variant in variants
    if variant in scenarios.load(name).variants
    and not scenarios.load(name).for_providers
    and scenarios.load(name).unmet(LOADED[provider].at(LOADED[provider].model)) is None
]


@pytest.fixture(scope="module")
def server() -> Iterator[SessionServer]:
    with serving_sessions() as server:
        yield server


@pytest.mark.parametrize(("provider", "name", "variant"), some(CASES, 3, "-".join, mark=pytest.mark.exhaustive))
def test_the_reference_client_passes(
    provider: str, name: str, variant: str, server: SessionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = server.open(scenarios.load(name), LOADED[provider], variant)
    job = job_of(session)
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(job)))
    # The delays of scripted tools only matter to the tests of loops.
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    with redirect_stdout(io.StringIO()) as output:
        runpy.run_path(str(DRIVER))
    answer = DriverAnswer.from_json(json.loads(output.getvalue().splitlines()[-1]))
    found = check_session(client_session(session, job, answer), session.profile)
    assert [] == [(outcome.rule, outcome.reason, outcome.findings) for outcome in found if grade(outcome)]
    assert any(outcome.judged for outcome in found)
