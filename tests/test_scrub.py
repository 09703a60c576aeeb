"""`conformance scrub`: files of every format lose their secrets and keep their findings."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.cli import main
from conformance.errors import Unusable
from conformance.files import scrubbing
from conformance.files.scrubbing import differences, scrub_file
from conformance.formats import read
from conformance.formats.httprr import MAGIC
from tests.checking import BASES, FAULTY, check, jsonl, write
from tests.loops import every

HEADER = "hX4-77qp_Zt9vLm2"
MEMBER = "Mb3+55rq/Yu8wKn1"
SHAPE = "sk-proj-abcDEF0123456789abcDEF"
SECRETS = (HEADER, MEMBER, SHAPE)
EXCHANGE = BASES["tool-call"][0]
CALL = "/0/response/choices/0/message/tool_calls/0"
URL = "https://api.openai.com/v1/chat/completions"
HEADERS = {"Helicone-Auth": f"Bearer {HEADER}", "Content-Type": "application/json"}
TYPE = "application/json"


def planted(text: str = MEMBER) -> dict[str, Any]:
    """Return an exchange with secrets: a member's, which its text has too, and an id that looks like a key."""
    exchange: dict[str, Any] = json.loads(json.dumps(EXCHANGE))
    exchange["request"]["api_key"] = MEMBER
    exchange["request"]["messages"][0]["content"] = f"Why is {text} wrong?"
    exchange["response"]["choices"][0]["message"]["tool_calls"][0]["id"] = SHAPE
    exchange["response"]["choices"][0]["finish_reason"] = 7
    return exchange


SENT = json.dumps(planted(HEADER)["request"])
REPLY = json.dumps(planted()["response"])
CHUNKS = [json.dumps({"choices": [{"index": 0, "delta": {"content": SHAPE[at : at + 4]}}]}) for at in range(0, 30, 4)]


def har() -> bytes:
    pairs = [{"name": name, "value": value} for name, value in HEADERS.items()]
    request = {"method": "POST", "url": f"{URL}?key={MEMBER}", "headers": pairs, "postData": {"text": SENT}}
    content = {"text": base64.b64encode(REPLY.encode()).decode(), "encoding": "base64"}
    response = {"status": 200, "headers": [{"name": "content-type", "value": TYPE}], "content": content}
    return json.dumps({"log": {"version": "1.2", "entries": [{"request": request, "response": response}]}}).encode()


def cassette() -> bytes:
    request = {"method": "POST", "uri": URL, "headers": {name: [text] for name, text in HEADERS.items()}, "body": SENT}
    headers = {"content-type": [TYPE], "set-cookie": [f"session={HEADER}"]}
    body = {"string": gzip.compress(REPLY.encode())}
    response = {"status": {"code": 200, "message": "OK"}, "headers": headers, "body": body}
    return yaml.safe_dump({"interactions": [{"request": request, "response": response}], "version": 1}).encode()


def httprr() -> bytes:
    head = f"POST {URL} HTTP/1.1\r\nHelicone-Auth: Bearer {HEADER}\r\n\r\n"
    messages = [f"{head}{SENT}".encode(), f"HTTP/1.1 200 OK\r\nContent-Type: {TYPE}\r\n\r\n{REPLY}".encode()]
    return MAGIC + b"%d %d\n" % (len(messages[0]), len(messages[1])) + b"".join(messages)


def curl() -> bytes:
    sent = f"> POST /v1/chat/completions HTTP/1.1\n> Host: api.openai.com\n> Helicone-Auth: Bearer {HEADER}\n>\n"
    return f"{sent}< HTTP/1.1 200 OK\n< Content-Type: {TYPE}\n<\n{REPLY}\n".encode()


def nock() -> bytes:
    call = {"scope": "https://api.openai.com:443", "method": "POST", "path": "/v1/chat/completions", "status": 200}
    body = {"body": planted(HEADER)["request"], "response": planted()["response"], "reqheaders": HEADERS}
    return json.dumps([{**call, **body, "rawHeaders": ["Content-Type", TYPE]}]).encode()


def log() -> bytes:
    options = {
        "method": "post",
        "url": "/chat/completions",
        "headers": HEADERS,
        "json_data": planted(HEADER)["request"],
    }
    start = "[2026-01-01 00:00:00 - openai._base_client:482 - DEBUG] Request options: "
    return f"{start}{options!r}\n".encode()


FILES = {
    "exchange.json": json.dumps(planted(), indent=2).encode(),
    "session.jsonl": "".join([json.dumps({**planted(), "session": "a"}) + "\n"] * 2).encode(),
    "packed.jsonl.gz": gzip.compress((json.dumps(planted()) + "\n").encode()),
    "chunks.jsonl": "".join([f"{each}\n" for each in CHUNKS]).encode(),
    "stream.sse": "".join([f"data: {each}\n\n" for each in CHUNKS]).encode(),
    "traffic.har": har(),
    "cassette.yaml": cassette(),
    "trace.httprr": httprr(),
    "call.txt": curl(),
    "calls.json": nock(),
    "debug.log": log(),
}


def everything_in(data: bytes, name: str) -> str:
    """Return all that a reader finds in a file: its text, and what is packed in it."""
    inputs = [given for given in read(data, name) if given.problem is None]
    exchanges = [[each.request, str(each.response)] for given in inputs for each in given.conversation]
    text = gzip.decompress(data) if name.endswith(".gz") else data
    parts = [json.loads(line.removeprefix("data: ")) for line in text.decode().splitlines() if '"delta"' in line]
    joined = "".join([each["choices"][0]["delta"]["content"] for each in parts if "choices" in each])
    return f"{text.decode()} {json.dumps(exchanges)} {joined}"


@every("name", FILES)
def test_a_file_loses_its_secrets_and_keeps_its_findings(name: str) -> None:
    data = FILES[name]
    held = [each for each in SECRETS if each in everything_in(data, name)]
    assert held
    found = scrub_file(data, name)
    assert [] == [each for each in held if each in everything_in(found.data, name)]
    assert [] == differences(data, found.data, name)
    assert found.removed.total() >= len(held)
    assert not [text for pair in found.removed for text in pair for secret in SECRETS if secret in text]
    assert found.data == scrub_file(found.data, name).data


@every("name", FILES)
def test_a_file_without_secrets_keeps_its_bytes(name: str) -> None:
    packed = name.endswith(".gz")
    data = gzip.decompress(FILES[name]) if packed else FILES[name]
    clean = scrub_file(data, name.removesuffix(".gz")).data
    assert clean == scrub_file(clean, name.removesuffix(".gz")).data


def test_equal_secrets_stay_equal_and_others_different() -> None:
    first, second = SHAPE, SHAPE.replace("abc", "xyz")
    calls = [{"id": each, "type": "function", "function": {"name": "f", "arguments": "{}"}} for each in (first, second)]
    results = [{"role": "tool", "tool_call_id": each, "content": "x"} for each in (second, first)]
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        *results,
    ]
    found = scrub_file(json.dumps({"model": "m", "messages": messages}).encode(), "request.json")
    shown = json.loads(found.data)["messages"]
    ids = [each["id"] for each in shown[1]["tool_calls"]]
    assert list(reversed(ids)) == [each["tool_call_id"] for each in shown[2:]]
    assert 2 == len({*ids})
    assert [len(first), len(second)] == [len(each) for each in ids]


def test_check_prints_no_secret_that_a_header_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    body = json.loads(SENT)
    body["messages"][0]["role"] = HEADER
    monkeypatch.setattr("tests.test_scrub.SENT", json.dumps(body))
    for name, make in (("a.har", har), ("a.yaml", cassette), ("a.httprr", httprr)):
        (tmp_path / name).write_bytes(make())
        assert 1 == main(["check", "--provider", "none", str(tmp_path / name)])
        printed = capsys.readouterr().out
        assert HEADER not in printed
        assert 'got "[redacted' in printed


def test_check_searches_a_file_for_its_secrets_once_however_many_findings_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[str] = []
    search = scrubbing.secrets_in

    def noted(data: bytes, name: str) -> list[str]:
        searched.append(name)
        return search(data, name)

    monkeypatch.setattr(scrubbing, "secrets_in", noted)
    path = write(tmp_path / "a.jsonl", jsonl(*[{**FAULTY, "headers": {"x-request-id": "1"}}] * 3))
    ended = check(path, "--format", "jsonl")
    assert (1, 3) == (ended[0], sum(bool(each["outcomes"]) for each in ended.inputs))
    assert [str(path)] == searched


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"SQLite format 3\0rest", "SQLite database; export the session"),
        (b"PAR1rest", "Parquet file"),
        (b"1234:8:response;", "flows of mitmproxy"),
    ],
)
def test_a_binary_file_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        scrub_file(data, "x.db")


def test_the_command_writes_a_folder_and_says_what_it_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    (source / "below").mkdir(parents=True)
    (source / "below/traffic.har").write_bytes(FILES["traffic.har"])
    (source / f"{SHAPE}.json").write_bytes(FILES["exchange.json"])
    (source / "a.db").write_bytes(b"SQLite format 3\0")
    assert 1 == main(["scrub", str(source), "-o", str(target)])
    printed = capsys.readouterr()
    assert "a.db is a SQLite database; export the session as JSON or JSON Lines, and scrub that; it" in printed.err
    assert "value of Helicone-Auth  at log/entries/*/request/headers/*/value" in printed.out
    assert "2 files written" in printed.out
    written = [path for path in target.rglob("*") if path.is_file()]
    assert 2 == len(written)
    assert {0o600} == {path.stat().st_mode & 0o777 for path in written}
    everything = printed.out + printed.err + "".join([f"{path} {path.read_text()}" for path in written])
    assert [] == [secret for secret in SECRETS if secret in everything]


@pytest.mark.slow
def test_recordings_with_planted_secrets_are_judged_the_same(shared: Path) -> None:
    removed = 0
    for path in sorted((shared / "recordings").glob("*.jsonl.gz"))[::4]:
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()[:10]
        # Every id of a call becomes one that looks like a key, and every city a password.
        text = "\n".join(lines).replace("call_", "sk-proj-0123456789").replace("toolu_", "gsk_0123456789abcdef")
        found = scrub_file(text.encode(), "planted.jsonl")
        assert [] == differences(text.encode(), found.data, "planted.jsonl")
        removed += found.removed.total()
    assert 50 < removed
