"""The index of public recordings: added to, fetched from mirrors and over HTTP, verified, and checked as recorded."""

import json
import re
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance import profiles
from conformance.cli import main
from conformance.evidence import index
from conformance.evidence.fetching import Cache, State, cached
from conformance.evidence.index import REDACTED, IndexedRecording, PublicFile
from conformance.evidence.recorded_run import RecordedRun
from conformance.results import Evidence, Level, Status
from conformance.wires import NATIVE
from tests.checking import BASES

PATH = "spec/cassettes/a b[1].yml"
REPLY = BASES["plain"][0]["response"] | {"model": "deepseek-chat", "created": 1_777_593_600}
REQUEST = {"model": "deepseek-chat", "messages": [{"role": "user", "content": "Hi"}]}


def interaction(
    reply: Any, status: int = 200, url: str = "https://api.deepseek.com/chat/completions"
) -> dict[str, Any]:
    return {
        "request": {"method": "post", "uri": url, "body": {"string": json.dumps(REQUEST)}},
        "response": {
            "status": {"code": 200},
            "headers": {"Content-Type": ["application/json"], "Date": ["Fri, 01 May 2026 10:00:00 GMT"]},
            "body": {"string": json.dumps(reply)},
        },
    }


OTHER = {
    "request": {"method": "get", "uri": "https://example.org/x", "body": None},
    "response": {"status": {"code": 200}},
}
CASSETTE = yaml.safe_dump(
    {"http_interactions": [OTHER, interaction(REPLY), interaction(REPLY | {"id": "b", "object": 5})]}
)


def git(folder: Path, *arguments: str) -> str:
    names = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    program = str(shutil.which("git"))
    done = subprocess.run([program, "-C", str(folder), *names, *arguments], capture_output=True, check=True, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def mirrors(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a folder with a bare mirror of owner/name, and the commit that holds the cassette."""
    root = tmp_path_factory.mktemp("mirrors")
    work = root / "work"
    (work / PATH).parent.mkdir(parents=True)
    git(root, "init", "-q", str(work))
    (work / PATH).write_text(CASSETTE)
    git(work, "add", "-A")
    git(work, "commit", "-qm", "Add a cassette")
    commit = git(work, "rev-parse", "HEAD")
    git(root, "clone", "-q", "--bare", str(work), str(root / "bare" / "owner" / "name.git"))
    return root / "bare", commit


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONFORMANCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def indexed(mirrors: tuple[Path, str], cache: Path, tmp_path: Path) -> Path:
    """Return the folder of an index with the recordings of the cassette."""
    folder, commit = mirrors
    code = main(
        [
            "evidence", "add", f"owner/name@{commit}", PATH,
            "--licence", "MIT", "--mirror", str(folder), "--index", str(tmp_path / "index"),
        ]
    )  # fmt: skip
    assert 0 == code
    return tmp_path / "index"


def fetch(index_folder: Path, *arguments: object) -> int:
    return main(["evidence", "fetch", "--index", str(index_folder), *map(str, arguments)])


def test_an_added_file_is_one_line_of_facts(indexed: Path, mirrors: tuple[Path, str]) -> None:
    (line,) = (indexed / "owner+name.jsonl").read_text().splitlines()
    entry = json.loads(line)
    exchanges = entry.pop("exchanges")
    assert {"repository": "owner/name", "commit": mirrors[1], "path": PATH, "licence": "MIT"} == entry
    assert [1, 2] == [each["number"] for each in exchanges]
    facts = {"provider": "deepseek", "model": "deepseek-chat", "date": "2026-05-01", "status": 200}
    assert facts == {key: exchanges[0][key] for key in facts}
    assert exchanges[0]["digest"] != exchanges[1]["digest"]
    assert "Hi" not in line


def test_adding_a_file_again_replaces_what_the_index_holds_of_it(indexed: Path, mirrors: tuple[Path, str]) -> None:
    before = (indexed / "owner+name.jsonl").read_bytes()
    arguments = ["--licence", "MIT", "--mirror", str(mirrors[0]), "--index", str(indexed)]
    assert 0 == main(["evidence", "add", f"owner/name@{mirrors[1]}", PATH, *arguments])
    assert before == (indexed / "owner+name.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("repository", "path", "expected"),
    [
        ("owner/name", PATH, "expected owner/name@commit with the 40 digits of the commit"),
        ("owner/name@{commit}", "gone.yml", "gone.yml"),
        ("owner/other@{commit}", PATH, "no mirror of owner/other"),
    ],
)
def test_what_cannot_be_added_is_one_error(
    repository: str,
    path: str,
    expected: str,
    mirrors: tuple[Path, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["--licence", "MIT", "--mirror", str(mirrors[0]), "--index", str(tmp_path)]
    assert 2 == main(["evidence", "add", repository.format(commit=mirrors[1]), path, *arguments])
    assert expected in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_fetched_files_are_verified_and_not_fetched_again(
    indexed: Path, mirrors: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == fetch(indexed, "--mirror", mirrors[0])
    assert "2 recordings: 2 verified" in capsys.readouterr().out
    (tmp_path / "empty").mkdir()
    assert 0 == fetch(indexed, "--mirror", tmp_path / "empty")


def test_what_is_gone_is_named_and_the_rest_is_fetched(
    indexed: Path, mirrors: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    gone = IndexedRecording(PublicFile("owner/name", mirrors[1], "gone.yml"), 0, "0" * 12, "deepseek", licence="MIT")
    index.add([gone], indexed)
    assert 1 == fetch(indexed, "--mirror", mirrors[0])
    out = capsys.readouterr().out
    assert f"gone: owner/name@{mirrors[1][:12]}:gone.yml: " in out
    assert "3 recordings: 2 verified, 1 gone" in out


def test_a_recording_with_another_digest_differs(
    indexed: Path, mirrors: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = index.load(indexed)
    index.add([first._replace(digest="0" * 12), second], indexed)
    assert 1 == fetch(indexed, "--mirror", mirrors[0])
    assert f"expected the digest 000000000000, got {first.digest}" in capsys.readouterr().out


def test_a_recording_without_a_digest_stays_unverified(
    indexed: Path, mirrors: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = index.load(indexed)
    index.add([first._replace(digest=""), second], indexed)
    assert 0 == fetch(indexed, "--mirror", mirrors[0])
    assert "2 recordings: 1 verified, 1 unverified" in capsys.readouterr().out


def test_a_damaged_index_is_an_error_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a+b.jsonl").write_text('{"repository": "a/b"}\n')
    assert 2 == fetch(tmp_path)
    assert "a+b.jsonl:1: expected the recordings of one file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("repository", "commit"),
    [("a/b", "--output=/tmp/x"), ("a/b", "HEAD"), ("../..", "0" * 40), ("a", "0" * 40), ("a/b/c", "0" * 40)],
)
def test_only_a_repository_and_a_commit_reach_git(
    repository: str, commit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = {"repository": repository, "commit": commit, "path": "x", "licence": "MIT", "exchanges": []}
    (tmp_path / "a+b.jsonl").write_text(json.dumps(line))
    assert 2 == fetch(tmp_path, "--mirror", tmp_path)
    assert "a+b.jsonl:1: expected owner/name and the 40 digits of a commit" in capsys.readouterr().err


def test_a_damaged_file_of_the_cache_is_fetched_again(indexed: Path, mirrors: tuple[Path, str], cache: Path) -> None:
    assert 0 == fetch(indexed, "--mirror", mirrors[0])
    (path,) = [each for each in cache.rglob("*") if each.is_file()]
    path.write_bytes(b"interactions: [")
    assert {State.DIFFERS} == {each.state for each in cached(index.load(indexed), Cache())}
    assert 0 == fetch(indexed, "--mirror", mirrors[0])
    assert {State.VERIFIED} == {each.state for each in cached(index.load(indexed), Cache())}


@contextmanager
def serving(answers: dict[str, list[tuple[int, bytes]]]) -> Iterator[tuple[str, Counter[str]]]:
    """Serve the answers of each path, the last one again and again; yield the address and what was asked for."""
    asked: Counter[str] = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            held = answers.get(self.path, [(404, b"")])
            status, content = held[min(asked[self.path], len(held) - 1)]
            asked[self.path] += 1
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.send_header("retry-after", "0")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def test_files_come_over_http_by_commit_and_a_busy_server_is_asked_again(
    indexed: Path, mirrors: tuple[Path, str], cache: Path
) -> None:
    path = f"/owner/name/{mirrors[1]}/spec/cassettes/a%20b%5B1%5D.yml"
    with serving({path: [(503, b""), (429, b""), (200, CASSETTE.encode())]}) as (url, asked):
        assert 0 == fetch(indexed, "--url", url)
        assert 0 == fetch(indexed, "--url", url)
    assert Counter({path: 3}) == asked
    assert {State.VERIFIED} == {each.state for each in cached(index.load(indexed), Cache())}


@pytest.mark.parametrize(("status", "state", "code"), [(404, "gone", 1), (500, "failed", 1), (403, "failed", 1)])
def test_what_a_server_does_not_give_is_reported(
    status: int,
    state: str,
    code: int,
    indexed: Path,
    mirrors: tuple[Path, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = f"/owner/name/{mirrors[1]}/spec/cassettes/a%20b%5B1%5D.yml"
    with serving({path: [(status, b"")]}) as (url, _):
        assert code == fetch(indexed, "--url", url)
    assert f"2 recordings: 2 {state}" in capsys.readouterr().out
    assert {State.MISSING} == {each.state for each in cached(index.load(indexed), Cache())}


def test_the_shipped_index_holds_facts_only_and_each_recording_once() -> None:
    recordings = index.load()
    assert len(recordings) == len({(each.place, each.number) for each in recordings})
    keys = {
        key
        for path in index.FOLDER.glob("*.jsonl")
        for line in path.read_text().splitlines()
        for each in (json.loads(line), *json.loads(line)["exchanges"])
        for key in each
    }
    of_file = {"repository", "commit", "path", "licence", "exchanges"}
    assert of_file | {"number", "digest", "provider", "model", "date", "status", "fixture"} == keys
    assert [] == [each for each in recordings if each.digest and not re.fullmatch(r"[0-9a-f]{12}", each.digest)]
    assert [] == [each for each in recordings if not re.fullmatch(r"[0-9a-f]{40}", each.place.commit)]
    without = {each.provider for each in recordings if not profiles.has(each.provider)}
    assert {"local", "openai_compat_misc", "unknown"} == without
    assert set(NATIVE) == {each.provider.partition(".")[2] for each in recordings} - {""}


def test_every_recorded_provider_of_the_calibration_is_in_the_index() -> None:
    known = index.by_digest()
    folder = index.FOLDER.parents[2] / "reports" / "results" / "calibration"
    digests = {each for path in folder.glob("*.json") for each in json.loads(path.read_text())["exchanges"]}
    assert digests
    assert set() == digests - known.keys()


@pytest.fixture
def run(
    indexed: Path, mirrors: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> RecordedRun:
    """Return a run over the cassette; the second recording is a fixture for the reason that the test gives."""
    first, second = index.load(indexed)
    index.add([first, second._replace(fixture=getattr(request, "param", ""))], indexed)
    assert 0 == fetch(indexed, "--mirror", mirrors[0])
    held = index.load(indexed)
    monkeypatch.setattr(index, "load", lambda: held)
    return RecordedRun("deepseek")


def test_each_recording_is_checked_with_every_rule_about_providers(run: RecordedRun) -> None:
    first, second = run.played
    assert {"shape/response", "usage/adds-up"} <= {each.rule for each in first.outcomes}
    assert [(second, "shape/response")] == [(each, outcome.rule) for each, outcome in run.unexpected(Level.MUST)]
    (case,) = run.results().cases
    assert ("recorded.plain", Evidence.RECORDED) == (case.name, case.evidence)
    assert 2 == next(each.judged for each in case.outcomes if each.rule == "usage/adds-up")
    (failed,) = [each for each in case.outcomes if each.status is Status.FAILED]
    assert f"{second.recording.place} #2" in failed.findings[0].message


@pytest.mark.parametrize("run", ["written by hand"], indirect=True)
def test_a_fixture_written_by_hand_counts_for_nothing(run: RecordedRun) -> None:
    (case,) = run.results().cases
    assert 1 == next(each.judged for each in case.outcomes if each.rule == "usage/adds-up")
    assert "written by hand" == run.expected(run.played[1], "shape/response")
    assert () == run.unexpected(Level.MUST)


@pytest.mark.parametrize("run", [REDACTED], indirect=True)
def test_a_redacted_recording_counts_but_for_rules_about_ids(run: RecordedRun) -> None:
    (case,) = run.results().cases
    assert 2 == next(each.judged for each in case.outcomes if each.rule == "usage/adds-up")


def test_without_fetched_recordings_a_run_says_what_to_do(pytester: pytest.Pytester, cache: Path) -> None:
    result = pytester.runpytest("--provider=deepseek", "--evidence", "recorded")
    assert pytest.ExitCode.USAGE_ERROR is result.ret
    result.stderr.fnmatch_lines(["*not in the cache*`conformance evidence fetch --provider deepseek`*"])


@pytest.mark.parametrize("option", ["--live", "--record", "--plan", "--repeat=2", "--base-url=http://127.0.0.1:1/v1"])
def test_recordings_are_checked_alone(option: str, pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("--provider=deepseek", "--evidence=recorded", option)
    assert pytest.ExitCode.USAGE_ERROR is result.ret
    result.stderr.fnmatch_lines([f"*--evidence recorded checks recordings; omit {option.partition('=')[0]}*"])


def test_the_list_of_a_claim_links_each_recording(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["evidence", "list", "--claim", "reasoning.response-field", "--provider", "deepseek"])
    out = capsys.readouterr().out
    assert 'reasoning.response-field (since 2025-01): "reasoning_content"' in out
    links = re.findall(r"  confirmed: \S+ \S+ 200: https://github\.com/\S+/blob/[0-9a-f]{40}/\S+ #\d+", out)
    assert len(links) > 5


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--provider", "deepsek"], "did you mean deepseek"),
        (["--provider", "deepseek", "--claim", "ids.formt"], "did you mean ids.format"),
    ],
)
def test_an_unknown_name_is_an_error(arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["evidence", "list", *arguments])
    assert expected in capsys.readouterr().err
