"""No fault of a provider leaves a run green, and no harmless change makes it red.

A proxy stands between the suite and the simulator, in this process: the suite's own HTTP client gets replies that a
fault of `tests/faults` has changed. The items of the suite then judge the cases as in a run of pytest.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import httpx
import orjson
import pytest

from conformance import profiles, scenarios
from conformance.core_facts import core_facts
from conformance.errors import Unusable
from conformance.profiles import Profile
from conformance.results import Evidence, Verdict
from conformance.results.runs import Case
from conformance.simulator import Simulator
from conformance.suite import test_probes, test_rules
from conformance.suite.play import play, promised
from conformance.suite.pytest_config import RUN
from conformance.suite.turns import Subject
from conformance.transport.client import Client, Endpoint
from conformance.transport.http import HttpReply
from tests.faults import CATALOGUE, Fault, Reply, events_of
from tests.sampling import sampled

pytestmark = pytest.mark.slow

for module in ("statuses", "reasoning", "calls", "streams"):
    import_module(f"tests.faults.{module}")

PROVIDERS = ("deepseek", "groq", "openrouter", "openai", "mistral")
LOADED = {name: profiles.load(name) for name in PROVIDERS}
PLAYED = ("interleaved-thinking", "two-tool-turns", "parallel-tool-calls", "one-tool-call", "reasoning-without-tools")
"""The scenarios of a whole run here: those that answer the core facts."""


def claims_of(provider: str) -> Mapping[str, Any]:
    profile = LOADED[provider]
    return profile.at(profile.model, "")


class Proxy(httpx.AsyncBaseTransport):
    """Passes requests to the simulator, and its replies through a fault."""

    def __init__(self, provider: str, fault: Fault) -> None:
        self._provider, self._fault = provider, fault
        self._state: dict[str, Any] = {}
        self.has_changed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        status, headers, body = simulated_reply(self._provider, request.content)
        reply = Reply(status, dict(headers), orjson.loads(body), self._state)
        before = reply.to_http()
        self._fault.apply(orjson.loads(request.content), reply)
        if reply.error is not None:
            self.has_changed = True
            raise reply.error
        response = reply.to_http()
        self.has_changed |= (before.status_code, before.content, before.headers) != (
            response.status_code,
            response.content,
            response.headers,
        )
        return httpx.Response(reply.status, headers=reply.headers, stream=httpx.ByteStream(response.content))


@cache
def simulated_reply(provider: str, request: bytes) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
    """Return status, headers and parsed body of the simulator's reply; most faults see the same requests."""
    sent: HttpReply = Simulator(LOADED[provider]).reply(orjson.loads(request))
    content = sent.body if isinstance(sent.body, bytes) else b"".join(sent.body)
    streamed = not isinstance(sent.body, bytes)
    body = orjson.dumps(list(events_of(content.decode()))) if streamed else content
    if sent.headers["content-type"].startswith("text/plain"):
        body = orjson.dumps(content.decode())
    return sent.status, tuple(sent.headers.items()), body


def play_through(provider: str, fault: Fault, names: Sequence[str], variants: Sequence[str]) -> tuple[list[Case], bool]:
    """Return the cases of these scenarios with the fault, and whether it changed any reply."""
    profile = LOADED[provider]
    proxy = Proxy(provider, fault)
    played = []
    with Client(Endpoint("http://provider.test/v1"), proxy) as client:
        for name in names:
            for variant in variants:
                subject = Subject(profile, profile.model, client.send, Evidence.LIVE)
                played.append(play(scenarios.load(name), variant, subject))
    return played, proxy.has_changed


CLEAN = CATALOGUE["nothing-changed"]


@cache
def clean_cases(provider: str) -> Mapping[str, Case]:
    """Return the cases of a clean run."""
    cases, _ = play_through(provider, CLEAN, PLAYED, ("plain", "stream"))
    return {case.name: case for case in cases}


class FakeRun:
    """What the suite's items need of a run: no failure is expected."""

    def __init__(self, profile: Profile, *, strict: bool) -> None:
        self.profile, self.options = profile, SimpleNamespace(strict=strict)

    def expected_failure(self, _case: Case, _name: str) -> str:
        return ""

    def unexpected_pass(self, _case: Case, _name: str) -> str:
        return ""


def items(case: Case, request: Any) -> Iterator[Callable[[], object]]:
    """Yield the suite's items of a case, as pytest collects them."""
    scenario = scenarios.load(case.scenario)
    yield lambda: test_rules.test_scenario_is_played_to_its_end(case)
    yield lambda: test_rules.test_no_other_rule_is_broken(case, request)
    for rule in promised(scenario, case.variant):
        yield lambda rule=rule: test_rules.test_rule(case, rule, request)  # type: ignore[misc]
    for probe in scenario.probes:
        yield lambda probe=probe: test_probes.test_probe(case, probe.name, request)  # type: ignore[misc]


def failures_of(provider: str, cases: Sequence[Case], *, strict: bool = False) -> tuple[list[str], list[str]]:
    """Return what fails in a run with these cases, and its warnings."""
    profile = LOADED[provider]
    warned: list[str] = []

    def record(kwargs: Mapping[str, Any]) -> None:
        warned.append(str(kwargs["warning_message"].message))

    hook = SimpleNamespace(pytest_warning_recorded=SimpleNamespace(call_historic=record))
    config = SimpleNamespace(stash={RUN: FakeRun(profile, strict=strict)}, hook=hook)
    request = SimpleNamespace(config=config, node=SimpleNamespace(config=config, path="suite", nodeid="item"))
    failed = []
    for case in cases:
        for item in items(case, request) if case.outcomes else ():
            try:
                item()
            except pytest.fail.Exception as error:
                failed.append(f"{case.name}: {error}")
            except pytest.skip.Exception:
                pass
    facts = core_facts(cases, profile.at(profile.model, ""))
    for fact in facts:
        if fact.verdict is Verdict.UNTESTED or (fact.verdict is Verdict.BREAKS and failed):
            failed.append(f"core: {fact.name} {fact.verdict.value}: {'; '.join(fact.reasons)}")
    return failed, warned


def run(provider: str, fault: Fault, *, strict: bool = False, whole: bool = False) -> tuple[list[str], list[str], bool]:
    """Return the failures and warnings of a run with a fault, and whether it changed a reply.

    Cases that the fault does not touch are those of the clean run, unless the whole run is wanted.
    """
    names = PLAYED if whole else fault.scenarios
    try:
        cases, changed = play_through(provider, fault, names, ("plain", "stream") if whole else fault.variants)
    except Unusable as error:
        return [f"stopped: {error}"], [], True
    merged = {**clean_cases(provider), **{case.name: case for case in cases}}
    failed, warned = failures_of(provider, list(merged.values()), strict=strict)
    return failed, warned, changed


def faults(*, harmless: bool) -> list[Any]:
    return [
        pytest.param(provider, fault, id=f"{provider}-{fault.name}")
        for provider in PROVIDERS
        for fault in CATALOGUE.values()
        if bool(fault.seen_by) is not harmless and fault.needs(claims_of(provider))
    ]


def names_cause(fault: Fault, texts: Sequence[str]) -> bool:
    return any(cause in text for cause in fault.seen_by for text in texts)


@pytest.mark.parametrize(("provider", "fault"), sampled(faults(harmless=False), 6, whole=["deepseek"]))
def test_a_fault_makes_the_run_red(provider: str, fault: Fault) -> None:
    failed, warned, changed = run(provider, fault)
    assert changed
    if fault.as_warning and not failed:
        assert names_cause(fault, warned), warned
        failed, _, _ = run(provider, fault, strict=True)
    assert names_cause(fault, failed), failed


@pytest.mark.parametrize(("provider", "fault"), faults(harmless=True))
def test_a_harmless_change_leaves_the_run_green(provider: str, fault: Fault) -> None:
    failed, _, changed = run(provider, fault)
    assert changed
    assert [] == failed


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_clean_run_is_green(provider: str) -> None:
    failed, _ = failures_of(provider, list(clean_cases(provider).values()))
    assert [] == failed


def test_the_catalogue_has_at_least_45_faults() -> None:
    assert 45 <= len([fault for fault in CATALOGUE.values() if fault.seen_by])


ONE_CAUSE = ("error-in-200", "results-refused", "empty-body", "model-is-unknown", "error-chunk", "cut-body")


@pytest.mark.parametrize("name", ONE_CAUSE)
def test_one_cause_gives_one_failure_for_each_case(name: str) -> None:
    failed, _, _ = run("deepseek", CATALOGUE[name])
    cases = [text.partition(":")[0] for text in failed if not text.startswith("core: ")]
    assert sorted(set(cases)) == sorted(cases)


def test_lost_reasoning_fails_only_the_promise_about_its_field() -> None:
    failed, _, _ = run("deepseek", CATALOGUE["reasoning-lost-on-tool-turns"])
    assert [] == [
        text for text in failed if "probes/" in text and not text.startswith("core: ") and "as-scripted" not in text
    ]
    assert any("core: reasoning-omitted untested" in text for text in failed)
