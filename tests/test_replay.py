"""Replays: names and files of results, excerpts of findings, and what is printed."""

import shutil
from pathlib import Path

import orjson
import pytest

from conformance.cli import main
from conformance.resources import folder
from conformance.results import Finding, Level, Outcome, Status
from conformance.results.excerpts import MAX_CHARACTERS, MAX_FINDINGS, with_excerpts
from conformance.results.files import read
from conformance.transport.shelf import CassetteFolder
from conformance.wire.exchange import Exchange
from tests.loops import every

PROVIDER, MODEL = "baidu", "ernie-4.5-turbo-128k"
"""The provider with the fewest cases, all of them simulated."""

CHUNKS = [{"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]} for text in ("a", "b")]
STREAM = "".join([f"data: {orjson.dumps(each).decode()}\n\n" for each in CHUNKS]) + "data: [DONE]\n\n"
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "Hello."}, {"role": "tool", "content": "x" * 400}]}
PLAIN = {"choices": [{"message": {"content": "c" * 400}, "finish_reason": "stop"}]}


@pytest.fixture
def cassettes(tmp_path: Path) -> Path:
    """Return a folder with the cassettes of one provider."""
    shutil.copytree(folder("cassettes") / PROVIDER, tmp_path / "cassettes" / PROVIDER)
    return tmp_path / "cassettes"


def replayed(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_replay_gives_the_committed_results(
    cassettes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "results"
    code, out, _ = replayed(capsys, "provider", "replay", "--all", "--cassettes", cassettes, "--results", target)
    assert (0, f"{PROVIDER}, {MODEL}: {target / PROVIDER}.json\n") == (code, out)
    committed = folder("reports") / "results" / f"{PROVIDER}.json"
    assert read(committed) == read(target / f"{PROVIDER}.json")


@pytest.mark.slow
def test_a_further_model_has_results_of_its_own(
    cassettes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cassette_folder = CassetteFolder(cassettes, PROVIDER)
    entry = cassette_folder.manifest()[MODEL]
    further = "ernie/x 4"
    cassette_folder.add(further, entry)
    for path in cassette_folder.path(MODEL, "x").parent.glob("*.yaml"):
        target = cassette_folder.path(further, path.stem)
        target.parent.mkdir(exist_ok=True)
        target.write_text(path.read_text("utf-8").replace(MODEL, further), "utf-8")
    folders = ["--cassettes", cassettes, "--results", tmp_path]
    asked = ["provider", "replay", "--provider", PROVIDER, "--model", further, *folders]
    assert 0 == replayed(capsys, *asked)[0]
    results = read(tmp_path / f"{PROVIDER}.ernie-x-4.json")
    assert (f"{PROVIDER}:ernie-x-4", further, PROVIDER) == (results.name, results.model, results.profile)


def test_a_cassette_that_lacks_a_request_is_reported_and_exits_with_1(
    cassettes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in CassetteFolder(cassettes, PROVIDER).path(MODEL, "x").parent.glob("*.yaml"):
        path.write_text(path.read_text("utf-8").replace(MODEL, "another"), "utf-8")
    code, out, err = replayed(capsys, "provider", "replay", "--all", "--cassettes", cassettes, "--results", tmp_path)
    assert (1, "") == (code, out)
    assert f"{PROVIDER}, {MODEL}: " in err
    assert not list(tmp_path.glob("*.json"))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--provider", "baidoo"], "baidu"),
        (["--provider", PROVIDER, "--model", "none"], f"(models with cassettes: {MODEL})"),
    ],
)
def test_a_replay_without_cassettes_is_unusable(
    cassettes: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    code, _, err = replayed(capsys, "provider", "replay", *arguments, "--cassettes", cassettes)
    assert (2, True) == (code, complaint in err), err


@every(
    ("at", "streamed", "excerpt"),
    [
        ("/0/request/messages/0/content", False, '{"role":"user","content":"Hello."}'),
        ("/0/request/messages/0/missing", False, '{"role":"user","content":"Hello."}'),
        ("/0/request/model", False, '"m"'),
        ("/0/response/choices/0/finish_reason", False, '"stop"'),
        ("/0/response/1/choices/0/delta", True, orjson.dumps(CHUNKS[1]).decode()),
        ("/0/response/2", True, '"[DONE]"'),
        ("/0/response/choices/0/message", True, '{"choices":[{"message":{"content":"ab"},"finish_reason":null}]}'),
        ("/0/response", True, orjson.dumps([orjson.dumps(CHUNKS[1]).decode(), "[DONE]"]).decode()),
        ("/7/response", False, ""),
        ("", False, ""),
    ],
)
def test_a_finding_quotes_what_it_points_at(at: str, *, streamed: bool, excerpt: str) -> None:
    exchange = Exchange(request=REQUEST, response=STREAM if streamed else PLAIN, status=200, streamed=streamed)
    outcome = Outcome("a/b", Status.FAILED, Level.MUST, 1, (Finding(at, "expected a, got b", Level.MUST),))
    (finding,) = with_excerpts((outcome,), (exchange,))[0].findings
    assert excerpt == finding.excerpt


def test_an_excerpt_is_bounded_and_one_of_a_reply_comes_with_its_request() -> None:
    exchange = Exchange(request=REQUEST, response=PLAIN, status=200)
    place = "/0/response/choices/0/message/content"
    outcome = Outcome("a/b", Status.FAILED, Level.MUST, 1, (Finding(place, "expected a, got b", Level.MUST),))
    (finding,) = with_excerpts((outcome,), (exchange,))[0].findings
    assert (MAX_CHARACTERS, MAX_CHARACTERS) == (len(finding.excerpt), len(finding.asked))
    assert (True, "…") == (finding.excerpt.startswith('"ccc'), finding.excerpt[-1])
    assert finding.asked.startswith('{"role":"tool"')


def test_the_first_findings_are_kept_and_the_others_counted() -> None:
    exchange = Exchange(request=REQUEST, response=PLAIN, status=200)
    many = tuple([Finding("/0/request/model", f"expected {number}", Level.MUST) for number in range(MAX_FINDINGS + 4)])
    found = with_excerpts((Outcome("a/b", Status.FAILED, Level.MUST, 9, many),), (exchange,))[0].findings
    expected = [*(each.message for each in many[:MAX_FINDINGS]), "and 4 more findings of this rule"]
    assert expected == [each.message for each in found]
