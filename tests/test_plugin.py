"""The pytest plugin as a user sees it: real pytest runs in separate processes."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from conformance import profiles, rules, scenarios
from conformance.broken_clients import of_rule
from conformance.rules import advice
from conformance.simulator import simulated
from conformance.suite.rehearsal import plan
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from tests.forks import WITHOUT, run_pytest

pytestmark = pytest.mark.slow

REQUESTS = {"deepseek": 260, "groq": 260, "openai": 166}
"""How many requests a complete run sends, with turns and probes, plain and streamed; each new probe costs some."""

OWN = {
    "conformance",
    "conformance.pytest_plugin",
    "conformance.pytest_clients",
    "conformance.suite",
    "conformance.suite.pytest_config",
    "conformance.suite.plugin_options",
}
"""The modules of the package that every pytest run of an environment imports: what adds the options."""


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DEEPSEEK_API_KEY", "CONFORMANCE_API_KEY", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def run(pytester: pytest.Pytester, *arguments: str, alone: bool = False) -> pytest.RunResult:
    """Run pytest in a fork, or alone: in a new process, with the plugins of others."""
    chosen = ("-p", "no:cacheprovider", *WITHOUT, *arguments)
    result = pytester.runpytest_subprocess(*chosen, timeout=120) if alone else run_pytest(pytester, *arguments)
    shown = result.stdout.str() + result.stderr.str()
    assert "Traceback" not in shown
    assert "INTERNALERROR" not in shown
    return result


def shown(result: pytest.RunResult) -> str:
    return result.stdout.str() + result.stderr.str()


def modules(pytester: pytest.Pytester, *arguments: str) -> set[str]:
    """Return the modules that a run of a test that uses nothing has imported when the test begins."""
    pytester.makepyfile("import sys\ndef test_it():\n    print('modules:', *sorted(sys.modules))")
    result = run(pytester, "-s", "-p", "no:hypothesispytest", *arguments, alone=True)
    result.assert_outcomes(passed=1)
    (line,) = [line for line in result.stdout.lines if "modules:" in line]
    return set(line.partition("modules:")[2].split())


def test_a_run_without_provider_imports_only_the_options(pytester: pytest.Pytester) -> None:
    used, unused = modules(pytester), modules(pytester, "-p", "no:conformance")
    assert OWN == used - unused


def test_a_replay_ends_with_the_core_facts_the_counts_and_the_links(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--provider=deepseek", "--results=out", alone=True)
    assert 0 == result.ret
    text = shown(result)
    end = text[text.index("Core facts: DeepSeek") :]
    order = ["Field that carries reasoning", "Parallel calls: ", "Not conforming: nothing", "Counts: ", "--matrix"]
    assert sorted(map(end.index, order)) == [end.index(each) for each in order]
    assert "conformance report --results out" in end
    assert "declared, " in end
    assert "conforms" not in end
    assert "usage/adds-up" not in end


def test_a_replay_ends_with_a_matrix_that_names_its_evidence(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--provider=deepseek", "--results=out", "--matrix")
    assert 0 == result.ret
    text = shown(result)
    assert "Compatibility matrix: DeepSeek" in text
    assert "Evidence: simulated: this project's simulator played the profile's claims" in text
    assert "conforms" not in text.partition("Compatibility matrix")[2]
    results = json.loads(Path(pytester.path, "out", "deepseek.json").read_bytes())
    assert {"simulated"} == {case["evidence"] for case in results["cases"]}


def test_two_replays_write_the_same_results(pytester: pytest.Pytester) -> None:
    for folder in ("one", "two"):
        run(pytester, "--provider=deepseek", f"--results={folder}", "-k", "one-tool-call")
    one, two = (Path(pytester.path, folder, "deepseek.json").read_bytes() for folder in ("one", "two"))
    assert one == two


def test_a_live_run_passes_against_the_served_simulator(pytester: pytest.Pytester, stack: ExitStack) -> None:
    url = stack.enter_context(simulated(profiles.load("deepseek")))
    result = run(pytester, "--provider=deepseek", "--live", f"--base-url={url}/v1")
    assert 0 == result.ret
    assert "simulated" in shown(result)


def test_a_plan_lists_the_requests_and_sends_none(pytester: pytest.Pytester) -> None:
    endpoint = ["--live", "--base-url=http://127.0.0.1:9/v1"]
    result = run(pytester, "--provider=deepseek", "--plan", *endpoint, "-k", "plain-answer.plain")
    assert 0 == result.ret
    assert re.search(r"plain-answer\.plain +13 requests, +12 of them probes, about +[\d,]+ tokens", shown(result))
    assert "deepseek, deepseek-flash: 13 requests" in shown(result)
    assert "Compatibility matrix" not in shown(result)


@pytest.mark.parametrize("name", ["deepseek", "groq", "openai"])
def test_the_number_of_requests_is_known(name: str) -> None:
    profile = profiles.load(name)
    cases = [
        (scenario, variant) for scenario in map(scenarios.load, scenarios.names()) for variant in scenario.variants
    ]
    assert REQUESTS[name] == plan(profile, profile.model, cases).requests


def test_a_live_run_prints_its_number_of_requests_before_it_starts(pytester: pytest.Pytester, stack: ExitStack) -> None:
    url = stack.enter_context(simulated(profiles.load("deepseek")))
    result = run(pytester, "--provider=deepseek", f"--base-url={url}/v1", "-k", "plain-answer", "--max-requests=26")
    assert 0 == result.ret
    assert "This run sends to deepseek, deepseek-flash: 26 requests" in shown(result).partition("test_probes")[0]


def test_a_live_run_over_its_limit_sends_nothing(pytester: pytest.Pytester) -> None:
    limited = ["--base-url=http://127.0.0.1:9/v1", "--max-requests=10"]
    result = run(pytester, "--provider=deepseek", *limited, "-k", "plain-answer")
    assert pytest.ExitCode.USAGE_ERROR == result.ret
    assert "26 requests are more than --max-requests 10 allows" in shown(result)


def test_an_unknown_provider_is_reported_with_similar_names(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--provider=deepsek")
    assert pytest.ExitCode.USAGE_ERROR == result.ret
    assert "unknown provider 'deepsek'; did you mean deepseek" in shown(result)


def test_a_live_run_without_a_key_names_the_variable_to_set(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--provider=deepseek", "--live")
    assert pytest.ExitCode.USAGE_ERROR == result.ret
    assert "set DEEPSEEK_API_KEY" in shown(result)


def test_a_run_without_cassettes_says_how_to_get_some(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--provider=deepseek", f"--cassettes={pytester.path}")
    assert pytest.ExitCode.USAGE_ERROR == result.ret
    assert "there are no cassettes of deepseek's" in shown(result)


def test_an_endpoint_that_is_down_ends_the_run_with_its_url(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--provider=deepseek", "--live", "--base-url=http://127.0.0.1:9/v1", "-k", "plain-answer")
    assert 2 == result.ret
    assert "cannot connect to http://127.0.0.1:9/v1/chat/completions" in shown(result)


@pytest.mark.parametrize(
    ("reply", "code", "words"),
    [
        (HttpReply(401, b'{"error":{"message":"no"}}'), 2, "refuses the key"),
        pytest.param(
            HttpReply(404, b"{}"), 2, "--base-url must end before the path of the API", marks=pytest.mark.exhaustive
        ),
        (HttpReply(429, b"{}", {"retry-after": "0"}), 5, "inconclusive"),
        pytest.param(HttpReply(502, b"<html>"), 5, "inconclusive", marks=pytest.mark.exhaustive),
    ],
    ids=["401", "404", "429", "502"],
)
def test_an_unusable_endpoint_is_no_failure_of_the_provider(
    pytester: pytest.Pytester, stack: ExitStack, reply: HttpReply, code: int, words: str
) -> None:
    def answer(_request: HttpRequest) -> HttpReply:
        return reply

    url = stack.enter_context(serving(answer))
    result = run(pytester, "--provider=deepseek", "--live", f"--base-url={url}/v1", "-k", "plain-answer")
    assert code == result.ret
    assert words in shown(result)
    assert "failed" not in shown(result)


def test_a_provider_that_breaks_a_rule_fails_in_the_words_of_the_findings(
    pytester: pytest.Pytester, stack: ExitStack
) -> None:
    """A provider that omits [DONE], uses one id for all calls and has errors of its own is caught."""
    simulator_url = stack.enter_context(simulated(profiles.load("openai")))

    def answer(request: HttpRequest) -> HttpReply:
        import httpx

        reply = httpx.post(simulator_url + request.path, content=request.body)
        body = re.sub(rb'"call_[A-Za-z0-9]{24}"', b'"call_0"', reply.content).replace(b"data: [DONE]\n\n", b"")
        if reply.status_code == 400:
            return HttpReply(422, b'{"error":{"message":"none"}}', {"content-type": "application/json"})
        return HttpReply(reply.status_code, body, {"content-type": reply.headers["content-type"]})

    url = stack.enter_context(serving(answer))
    result = run(pytester, "--provider=openai", "--live", f"--base-url={url}/v1", "-k", "parallel-tool-calls")
    assert 1 == result.ret
    failures = shown(result).partition(" FAILURES ")[2].partition(" warnings summary ")[0].partition("Core facts:")[0]
    assert [] == [words for words in ("assert ", "def test_", "E  ", ".py") if words in failures]
    ids = ("parallel-tool-calls.stream-tool-calls/id-unique-in-reply", "parallel-tool-calls.plain-results-missing")
    rule, probe = (failures.partition(f"{item}] _")[2].partition("\n____")[0].splitlines()[1:] for item in ids)
    unique, answered = rules.select(["tool-calls/id-unique-in-reply", "transcript/calls-answered"])
    broken = of_rule(unique.id)
    assert broken is not None
    at = "/0/response/3/choices/0/delta/tool_calls/0/id"
    assert [
        f"tool-calls/id-unique-in-reply: expected an id that is new in this reply, got 'call_0' again (at {at})",
        f"  rule:   {unique.title}",
        f"  fix:    {advice(unique.doc)[1]}",
        f"  breaks: {broken.text}",
        "  more:   conformance explain tool-calls/id-unique-in-reply",
    ] == [rule[0], *rule[2:]]
    assert rule[1].startswith('  value:  [{"index":0,"delta":{"tool_calls":')
    assert re.fullmatch(r"probes/results-missing: expected refused with 400: .+, got refused with 422: none", probe[0])
    assert [
        f"  breaks: {answered.id}: {answered.title}",
        f"  more:   conformance explain {answered.id} results.missing results.missing-at-end",
    ] == [probe[2], probe[-1]]
    assert "results.missing or results.missing-at-end of the profile openai" in " ".join(" ".join(probe[3:-1]).split())
    assert "stream/ends-with-done: " in failures.partition("test_no_other_rule_is_broken")[2]
