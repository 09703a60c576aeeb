"""The plan of a live run, its limit of requests, and recordings that are older than a scenario."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from conformance import profiles, scenarios
from conformance.results import NOT_PLAYED, UNREADABLE, Evidence
from conformance.simulator import Simulator
from conformance.suite.comparisons import most_repeats
from conformance.suite.options import Options
from conformance.suite.rehearsal import plan
from conformance.suite.run import Run
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from conformance.transport.shelf import CassetteFolder, ManifestEntry
from tests.forks import run_pytest
from tests.loops import every

CODE = re.compile(rb"\b[B-Z2-9]{8}\b")


@contextmanager
def losing_results() -> Iterator[str]:
    """Serve a host that loses what tools return, and that nothing identifies as the simulator; yield its URL."""
    simulator = Simulator(profiles.load("deepseek"))

    def answer(request: HttpRequest) -> HttpReply:
        reply = simulator.answer(replace(request, body=CODE.sub(b"(nothing)", request.body)))
        return replace(reply, headers={name: value for name, value in reply.headers.items() if name != "server"})

    with serving(answer) as url:
        yield f"{url}/v1"


def run(pytester: pytest.Pytester, *arguments: str) -> tuple[int, str]:
    result = run_pytest(pytester, "--provider=deepseek", "-k", "nonces and plain", *arguments)
    return int(result.ret), " ".join((result.stdout.str() + result.stderr.str()).split())


@pytest.mark.slow
def test_a_limit_bounds_repeated_requests_and_keeps_the_results(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    with losing_results() as url:
        code, text = run(pytester, f"--base-url={url}", "--max-requests=9", "--results=out")
    assert 1 == code
    assert "This run sends to deepseek, deepseek-flash: 9 to 24 requests with about " in text
    assert "the limit of 9 requests is reached; raise it with --max-requests; what was not asked is untested" in text
    (written,) = (pytester.path / "out").glob("*.json")
    assert 9 == orjson.loads(written.read_bytes())["run"]["requests"]


@pytest.mark.slow
def test_lost_results_are_named_over_http(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    with losing_results() as url:
        code, text = run(pytester, f"--base-url={url}", "--max-requests=15")
    assert 1 == code
    assert "got in 3 of 3 replies: the answer does not contain" in text


@every(
    ("name", "least", "repeats"),
    [
        ("plain-answer", 13, 0),
        ("nonces", 6, 10),
        ("nonces-parallel", 3, 5),
        ("echo-text", 1, 2),
        ("twins-answer", 3, 3),
        ("twins-call", 3, 4),
    ],
)
def test_the_plan_has_the_requests_at_least_and_at_most(name: str, least: int, repeats: int) -> None:
    profile, scenario = profiles.load("deepseek"), scenarios.load(name)
    made = plan(profile, profile.model, [(scenario, "plain")])
    assert (least, repeats, least + repeats) == (made.requests, most_repeats(scenario), made.most_requests)
    amount = f"{least} to {least + repeats}" if repeats else f"{least}"
    assert f"deepseek, deepseek-flash: {amount} requests with about " in made.summary()


ENGINE = {
    "name": "vllm", "versions": {}, "weights": "26ad2a2cd4da", "template": "qwen3", "flags": [], "default": True,
}  # fmt: skip
OLDER = "before there was this scenario; record it again: the command"


@every(
    ("scenario", "evidence", "date", "expected", "end"),
    [
        ("twins-answer", Evidence.ENGINE, "2026-11-22", NOT_PLAYED, OLDER),
        ("twins-answer", Evidence.RECORDED, "2026-11-22", NOT_PLAYED, OLDER),
        ("twins-answer", Evidence.ENGINE, "2026-11-24", UNREADABLE, "record it with --record, or use --live"),
        ("twins-answer", Evidence.SIMULATED, "2026-11-22", UNREADABLE, "record it with --record, or use --live"),
        ("plain-answer", Evidence.RECORDED, "2026-11-22", UNREADABLE, "record it with --record, or use --live"),
        ("nonces", Evidence.ENGINE, "2026-11-23", NOT_PLAYED, OLDER),
        ("nonces", Evidence.ENGINE, "2026-11-24", UNREADABLE, "record it with --record, or use --live"),
        ("nonces", Evidence.RECORDED, "2026-11-24", UNREADABLE, "record it with --record, or use --live"),
    ],
)
def test_a_real_recording_need_not_hold_a_later_scenario(
    scenario: str, evidence: Evidence, date: str, expected: str, end: str, tmp_path: Path
) -> None:
    folder = CassetteFolder(tmp_path / f"{scenario}{evidence}{date}", "openai")
    model = profiles.load("openai").model
    folder.path(model, "one-tool-call.plain").parent.mkdir(parents=True)
    folder.path(model, "one-tool-call.plain").write_text("interactions: []\n", "utf-8")
    engine = ENGINE if evidence is Evidence.ENGINE else None
    folder.add(model, ManifestEntry(evidence, date, {}, "the command", "api.openai.com", engine))
    case = Run(Options("openai", folder.folder, "2026-11-25", model=model)).case(scenarios.load(scenario), "plain")
    assert (expected, ()) == (case.note[: len(expected)], case.outcomes)
    assert case.note.endswith(end), case.note
