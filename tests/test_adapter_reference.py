"""The project's own client passes every scenario: what is demanded of others can be done."""

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
from conformance.adapters.case import played
from conformance.adapters.check import outcomes
from conformance.adapters.job import job
from conformance.adapters.loop import Answer
from conformance.adapters.summary import grade
from conformance.simulator.sessions import Stage, staged

DRIVER = Path(conformance.__file__).parent / "adapters" / "sdks" / "reference" / "driver.py"
PROVIDERS = {"deepseek": ("plain", "stream"), "openrouter": ("stream",), "moonshot": ("stream",), "mistral": ("plain",)}
LOADED = {name: profiles.load(name) for name in PROVIDERS}
CASES = [
    (provider, name, variant)
    for provider, variants in PROVIDERS.items()
    for name in scenarios.names()
    for variant in variants
    if variant in scenarios.load(name).variants
    and scenarios.load(name).unmet(LOADED[provider].at(LOADED[provider].model)) is None
]


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with staged() as stage:
        yield stage


@pytest.mark.parametrize(("provider", "name", "variant"), CASES)
def test_the_reference_client_passes(
    provider: str, name: str, variant: str, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = stage.open(scenarios.load(name), LOADED[provider], variant)
    given = job(session)
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(given)))
    # Nobody has to wait for scripted tools here; that they overlap is for the tests of loops.
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    with redirect_stdout(io.StringIO()) as said:
        runpy.run_path(str(DRIVER))
    answer = Answer.from_json(json.loads(said.getvalue().splitlines()[-1]))
    found = outcomes(played(session, given, answer), session.profile)
    assert [] == [(each.rule, each.reason, each.findings) for each in found if grade(each)]
    assert any(outcome.judged for outcome in found)
