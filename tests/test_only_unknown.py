"""`pytest --only-unknown`: the fewest requests for what is unknown, and the file that `evidence add` checks."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from conformance import profiles
from conformance.cli import main
from conformance.errors import InvalidDocument, Unusable
from conformance.evidence import index, settled
from conformance.profiles import Claim, Disagreement, Source
from conformance.simulator import Simulator
from conformance.suite.options import Options
from conformance.suite.rehearsal import plan
from conformance.suite.run import Run
from conformance.suite.unknowns import assuming, unknowns
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from tests.forks import run_pytest
from tests.loops import every

HOST = "api.moonshot.ai"
TODAY = datetime.now(tz=UTC).date().isoformat()
COMMIT = "owner/name@0123456789abcdef0123456789abcdef01234567"

KNOWN: dict[str, Any] = {
    "thinking.mode": "default-on",
    "tools.supported": True,
    "tools.parallel": True,
    "reasoning.response-field": "reasoning_content",
    "reasoning.request-field": "reasoning_content",
    "reasoning.omitted-on-tool-turn": "accepted",
    "reasoning.empty-on-tool-turn": "accepted",
    "reasoning.altered": "accepted",
    "ids.format": "call_[A-Za-z0-9]{24}",
    "ids.unique-in-conversation": True,
    "ids.duplicate-in-request": "accepted",
    "ids.duplicate-in-message": "accepted",
    "results.reversed": "accepted",
}

THINKING, PARALLEL = "interleaved-thinking", "parallel-tool-calls"

PLANS: list[tuple[list[str], dict[str, int], set[str], int]] = [
    ([], {}, set(), 0),
    (["results.reversed"], {PARALLEL: 2}, {"results-reversed"}, 3),
    (["results.reversed", "ids.duplicate-in-message"], {PARALLEL: 2}, {"results-reversed", "ids-colliding"}, 4),
    (["reasoning.altered"], {THINKING: 2}, {"altered-current-own"}, 3),
    (
        ["reasoning.omitted-on-tool-turn", "reasoning.empty-on-tool-turn", "reasoning.altered", "ids.format"],
        {THINKING: 2},
        {"absent-current-own", "empty-current-own", "altered-current-own"},
        5,
    ),
    (["ids.duplicate-in-request", "ids.unique-in-conversation"], {THINKING: 3}, {"ids-colliding"}, 4),
    (["tools.parallel", "results.reversed"], {PARALLEL: 2}, {"results-reversed"}, 3),
    (["ids.format", "results.reversed"], {PARALLEL: 2}, {"results-reversed"}, 3),
    (["ids.unique-in-conversation"], {THINKING: 2}, set(), 2),
]


@every(("names", "turns", "probes", "requests"), PLANS)
def test_the_fewest_requests_settle_what_is_open(
    names: list[str], turns: dict[str, int], probes: set[str], requests: int
) -> None:
    profile = profiles.of({**KNOWN, **dict.fromkeys(names, "unknown")}, "made")
    found = unknowns(profile, "m")
    assert turns == {scenario.name: len(scenario.turns) for scenario, _ in found.cases}
    assert probes == {probe.name for scenario, _ in found.cases for probe in scenario.probes}
    assert (set(names), ()) == ({each.name for each in found.open}, found.left)
    assert requests == plan(assuming(profile, "m"), "m", found.cases).requests


def test_a_field_that_no_request_shows_is_left() -> None:
    found = unknowns(profiles.of({**KNOWN, "reasoning.request-field": "unknown"}, "made"), "m")
    assert (["reasoning.request-field"], ()) == ([each.name for each in found.left], found.cases)


@pytest.mark.slow
def test_each_claim_that_is_open_is_settled_or_named_as_left() -> None:
    for name in profiles.names():
        for wire in profiles.load(name).wires:
            profile = profiles.load(name).on(wire)
            found = unknowns(profile, profile.model or "any-model")
            settled_ones = {each.claim for each in found.chosen}
            assert {each.name for each in found.open} == settled_ones | {each.name for each in found.left}
            assert {each.name for each in found.left}.isdisjoint({"ids.format", "tools.parallel"}), name


def test_a_contested_claim_is_open_and_one_that_is_ruled_out_is_not() -> None:
    base = profiles.load("openai")
    disagreeing = Disagreement("accepted", Source(url="https://a.example/"))
    contested = Claim("results.reversed", "ignored", disagrees=(disagreeing,))
    profile = replace(base, claims={**base.claims, "results.reversed": (contested,)}, _resolved={}, _contested={})
    assert "results.reversed" in {each.name for each in unknowns(profile, "m").open}
    without = profile.with_claims({"tools.supported": False})
    assert "results.reversed" not in {each.name for each in unknowns(without, "m").open}


@contextmanager
def stand_in(
    change: Callable[[bytes], bytes] = lambda body: body.replace(b"chatcmpl-", b"chatcmpl-x"),
) -> Iterator[str]:
    """Serve what nothing identifies as the simulator, with other ids of replies; yield its URL."""
    simulator = Simulator(profiles.load("moonshot"))

    def answer(request: HttpRequest) -> HttpReply:
        reply = simulator.answer(request)
        assert isinstance(reply.body, bytes)
        headers = {name: value for name, value in reply.headers.items() if name != "server"}
        return replace(reply, headers=headers, body=change(reply.body))

    with serving(answer) as url:
        yield f"{url}/v1"


def written(url: str, tmp_path: Path) -> list[dict[str, Any]]:
    """Return the lines of the file of a run against a server, with the host that a real run would have asked."""
    run = Run(Options("moonshot", tmp_path, TODAY, base_url=url, only_unknown=True))
    for scenario, variant in run.chosen_cases():
        run.case(scenario, variant)
    data = settled.content(run, HOST)
    run.close()
    lines = [json.loads(line) for line in data.splitlines()]
    return [{**line, "url": f"https://{HOST}/v1/chat/completions"} for line in lines]


def test_a_run_sends_no_more_than_its_ceiling(tmp_path: Path) -> None:
    with stand_in() as url:
        run = Run(Options("moonshot", tmp_path, TODAY, base_url=url, only_unknown=True))
        run.limit(2)
        for scenario, variant in run.chosen_cases():
            run.case(scenario, variant)
        run.close()
    assert (2, "the limit of 2 requests is reached; raise it with --max-requests") == (len(run.kept), run.stopped)


def file_of(lines: list[dict[str, Any]], tmp_path: Path) -> Path:
    path = tmp_path / "moonshot.unknown.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    return path


def test_the_file_of_a_run_enters_the_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with stand_in() as url:
        path = file_of(written(url, tmp_path), tmp_path)
    assert 0 == main(["evidence", "add", str(path)])
    out = capsys.readouterr().out
    number = len(path.read_text("utf-8").splitlines())
    assert f"{number} exchanges of moonshot at api.moonshot.ai, {TODAY}" in out
    assert "  results.reversed: accepted" in out.splitlines()
    assert "It is not in the index" in out
    folder = tmp_path / "index"
    folder.mkdir()
    arguments = ["--index", str(folder), "--repository", COMMIT, "--path", "a/b.jsonl", "--licence", "CC0-1.0"]
    assert 0 == main(["evidence", "add", str(path), *arguments])
    entries = index.load(folder)
    assert [*range(number)] == [each.number for each in entries]
    assert {("moonshot", "a/b.jsonl", TODAY, 200)} == {
        (each.provider, each.place.path, each.date, each.status) for each in entries
    }
    assert [each.settles["digest"] for each in settled.checked(path).exchanges] == [each.digest for each in entries]


def test_the_exchanges_are_read_by_check_and_hold_no_header_of_an_account(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with stand_in() as url:
        lines = written(url, tmp_path)
    # A probe departs from the canonical wire, and is reported as such.
    assert 1 == main(["check", str(file_of(lines, tmp_path)), "--provider", "moonshot"])
    assert f"{len(lines)} exchanges" in capsys.readouterr().out
    assert {"content-type", "date", "server"} >= {name for line in lines for name in line["headers"]}
    probes = {line["settles"]["probe"] for line in lines}
    assert {"", "results-reversed"} <= probes


def _edit(line: dict[str, Any], **settles: Any) -> dict[str, Any]:
    return {**line, "settles": {**line["settles"], **settles}}


CHANGES: list[tuple[Callable[[dict[str, Any]], dict[str, Any]], str]] = [
    (lambda line: _edit(line, digest="0" * 12), "it says digest"),
    (lambda line: _edit(line, answer="refused with 400: no"), "it says answer"),
    (lambda line: _edit(line, shows={"ids.format": ["x"]}), "it says shows"),
    (lambda line: _edit(line, provider="deepseek"), "expected the provider of the first line"),
    (lambda line: {**line, "url": "https://evil.example/v1/chat/completions"}, "expected a host of moonshot"),
    (lambda line: {**line, "url": "https://api.moonshot.cn/v1/chat/completions"}, "expected the host api.moonshot.ai"),
    (lambda line: {**line, "response": {**line["response"], "id": "another"}}, "it says digest"),
    (lambda line: {**line, "note": "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7" * 2}, "looks like a secret"),
    (lambda line: {**line, "headers": {"server": "conformance-simulator"}}, "simulator"),
    (lambda line: _edit(line, claims=7), "expected settles/claims to be an array"),
    (lambda line: _edit(line, claims=["ids.formt"]), "expected claims of core facts"),
    (lambda line: _edit(line, shows=[]), "expected settles/shows to be an object"),
    (lambda line: _edit(line, model="kimi-k9"), "expected the model of the first line"),
    (lambda line: _edit(line, probe="ids-long"), "no probe 'ids-long'"),
    (lambda line: {**line, "settles": {**line["settles"], "claims": ["ids.format"]}}, "no probe "),
    (lambda line: {key: value for key, value in line.items() if key != "settles"}, "one without settles"),
]


def test_a_file_that_is_not_as_it_says_is_refused_with_its_line(tmp_path: Path) -> None:
    with stand_in() as url:
        lines = written(url, tmp_path)
    for change, words in CHANGES:
        path = file_of([*lines[:3], change(lines[3]), *lines[4:]], tmp_path)
        with pytest.raises(InvalidDocument) as raised:
            settled.checked(path)
        assert words in str(raised.value)
        assert ":4: " in str(raised.value)


def test_replies_of_the_simulator_are_refused_though_they_do_not_name_it(tmp_path: Path) -> None:
    with stand_in(lambda body: body) as url:
        path = file_of(written(url, tmp_path), tmp_path)
    with pytest.raises(InvalidDocument, match="the reply is that of this project's simulator"):
        settled.checked(path)


def test_an_edited_reply_is_refused_unless_the_index_says_what_was_done_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with stand_in(lambda body: json.dumps({**json.loads(body), "id": "made", "x_groq": {}}).encode()) as url:
        path = file_of(written(url, tmp_path), tmp_path)
    assert 2 == main(["evidence", "add", str(path)])
    expected = "the reply can hardly be the host's own: x_groq is a member of groq; if somebody edited it, say how with"
    assert f":1: {expected} --fixture" in capsys.readouterr().err
    folder = tmp_path / "index"
    folder.mkdir()
    place = ["--index", str(folder), "--repository", COMMIT, "--licence", "CC0-1.0"]
    assert 0 == main(["evidence", "add", str(path), "--fixture", "ids were replaced", *place])
    assert {"ids were replaced"} == {each.fixture for each in index.load(folder)}


def test_a_missing_file_and_a_repository_without_files_are_unusable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Unusable, match="cannot be read"):
        settled.checked(tmp_path / "none.jsonl")
    assert 2 == main(["evidence", "add", COMMIT])
    assert "name the files of the repository" in capsys.readouterr().err
    assert 2 == main(["evidence", "add", COMMIT, "a.yaml"])
    assert "--licence is required" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_shows_its_plan_and_its_answers(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    with stand_in() as url:
        result = run_pytest(
            pytester,
            "--provider=moonshot",
            f"--base-url={url}",
            "--only-unknown",
            "--results=out",
            "-p",
            "no:cacheprovider",
        )
    text = result.stdout.str()
    assert " claims of core facts are unknown or contested:" in text
    assert "  results.reversed (unknown): parallel-tool-calls: results-reversed" in text
    assert " requests with about " in text
    assert "Profiles name no prices" in text
    assert "  results.reversed: accepted" in text
    assert " exchanges without secrets: out/moonshot.unknown.jsonl" in text
    record = json.loads((pytester.path / "out" / "moonshot.json").read_bytes())["run"]
    assert ["--only-unknown"] == record["selected"]["by"]
    lines = (pytester.path / "out" / "moonshot.unknown.jsonl").read_text("utf-8").splitlines()
    assert record["requests"] == len(lines)


CODES: list[tuple[list[str], int, str]] = [
    (["--provider=anthropic", "--plan", "--only-unknown"], 5, "no core fact is unknown or contested; nothing is sent"),
    (["--provider=deepseek", "--plan", "--only-unknown"], 0, "ids.format (sources disagree)"),
    (["--provider=deepseek", "--only-unknown"], 4, "needs a real endpoint"),
    (["--provider=deepseek", "--base-url=http://127.0.0.1:9/v1", "--only-unknown"], 4, "add --results DIR"),
]


@pytest.mark.slow
def test_nothing_unknown_is_said_and_sends_nothing(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    for arguments, code, words in CODES:
        result = run_pytest(pytester, *arguments)
        assert words in result.stdout.str() + result.stderr.str()
        assert code == result.ret, arguments
