import contextlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from conformance import wires
from conformance.documents.pointer import REMOVE, edit
from conformance.errors import InvalidDocument
from conformance.formats import KINDS, Input, read, read_path
from conformance.resources import folder
from tests.loops import every
from tests.wires import (
    CHUNK,
    DONE,
    EVENT,
    HEADERS,
    REPLY,
    REPLY_TEXT,
    REQUEST,
    REQUEST_TEXT,
    URL,
)

BYTES = folder("fixtures") / "bytes"
LOGS = folder("fixtures") / "formats"
LOG_NAMES = (
    "batch-input.jsonl",
    "batch-output.jsonl",
    "helicone.jsonl",
    "langfuse.json",
    "langsmith.jsonl",
    "litellm.jsonl",
    "log-records-otlp.jsonl",
    "log-records.jsonl",
    "otlp.jsonl",
    "spans-openllmetry.jsonl",
    "wiremock.json",
    "wiremock-journal.json",
)

# Formats of single projects that are not supported, and what they are.
UNSUPPORTED = {
    "INDEX.json": "an index of the files, not a recording",
    "OpenRouterTeam+ai-sdk-provider__response.jsonl": "lines with `json`, `comment` and `delay_ms`: one project's own",
}


@every(
    ("data", "line", "message"),
    [
        (b"", 1, "got an empty file"),
        (b" \n ", 1, "got an empty file"),
        (b"hello", 1, "got text that begins with 'hello'"),
        (b"{}", 1, "got an object with the keys none"),
        (b'{"a": 1, "b": 2}', 1, "got an object with the keys 'a', 'b'"),
        (b"[]", 1, "got an empty list"),
        (b"[1, 2]", 1, "got a list of other or mixed items"),
        (b'{"a":\n1,}', 2, "expected a key in double quotes"),
        (b"interactions: 1", 1, "got YAML without a list of `interactions`"),
        (b"interactions:\n  a: ]", 2, "expected YAML"),
        (b'[{"request": 1}, 1]', 1, "got a list"),
        (b'{"exchanges": [1]}', None, "expected an exchange"),
        (b'{"request": "{"}', None, "invalid request body"),
        (b"\xef\xbb\xbf{}", 1, "got an object with the keys none"),
        (b"\xff\xfe{", None, "expected UTF-16, as its first bytes say"),
        (b"\x28\xb5\x2f\xfd", None, "expected complete zstd data"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>", 1, "output of curl with another body or none"),
        (b"* a\n< HTTP/1.1 200 OK\n< A: b\n< \n< HTTP/1.1 200 OK\n", 1, "curl -v for one request, got 2 replies"),
        (b"\x1f\x8b", None, "expected complete gzip data"),
    ],
)
def test_the_error_for_an_unreadable_file_says_what_was_expected_and_found(
    data: bytes, line: int | None, message: str
) -> None:
    with pytest.raises(InvalidDocument) as caught:
        list(read(data, "file"))
    assert ("file", line) == (caught.value.file, caught.value.line)
    assert message in caught.value.message


@pytest.mark.parametrize("name", ["", "missing.json"])
def test_a_path_that_cannot_be_opened_is_an_invalid_document(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidDocument, match=r"cannot be read: (No such file|Is a directory)"):
        list(read_path(tmp_path / name))


PLAIN = (
    st.none() | st.booleans() | st.integers(-1, 600) | st.sampled_from(["", "x", URL, EVENT, REPLY_TEXT, "\x1f\x8b"])
)
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "string"]), inner)
)
INTERACTION = {
    "request": {"method": "POST", "uri": URL, "body": {"encoding": "x", "string": REQUEST_TEXT}, "headers": HEADERS},
    "response": {"status": {"code": 200}, "headers": HEADERS, "body": {"base64_string": "e30="}},
    "recorded_at": "2026-01-01",
}
ENTRY = {
    "startedDateTime": "2026-01-01T00:00:00Z",
    "request": {"method": "POST", "url": URL, "postData": {"text": REQUEST_TEXT}},
    "response": {
        "status": 200,
        "headers": [{"name": "Date", "value": "x"}],
        "content": {"text": '["e30="]', "encoding": "base64"},
    },
}
NOCK = {"scope": URL, "path": "", "status": 200, "body": REQUEST, "response": ["ff", "00"], "rawHeaders": ["A", "b"]}
RECORD = {
    "request": REQUEST,
    "response": [CHUNK, DONE],
    "headers": HEADERS,
    "status": 200,
    "session": "s",
    "api": "chat",
}
WHOLE: list[Any] = [
    {"interactions": [INTERACTION]},
    INTERACTION,
    {"log": {"entries": [ENTRY]}},
    [NOCK],
    [RECORD, RECORD],
    {"exchanges": [RECORD], "session": "s"},
    REQUEST,
    [CHUNK, DONE],
    REPLY,
    *[
        json.loads((LOGS / name).read_bytes().partition(b"\n")[0] if name.endswith("l") else (LOGS / name).read_bytes())
        for name in LOG_NAMES
    ],
]


def places(value: Any, pointer: str = "") -> Iterator[str]:
    yield pointer
    items = value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else [])
    for key, item in items:
        yield from places(item, f"{pointer}/{key}")


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    whole = draw(st.sampled_from(WHOLE))
    chosen = draw(st.lists(st.sampled_from([place for place in places(whole) if place]), min_size=1, max_size=3))
    for place in chosen:
        with contextlib.suppress(LookupError, TypeError):
            whole = edit(whole, {place: draw(VALUES | st.just(REMOVE))})
    return whole


def survives(data: bytes, name: str) -> Iterator[Input]:
    try:
        yield from read(data, name)
    except InvalidDocument as error:
        yield Input(name, None, "", problem=error)


@given(VALUES | damaged(), st.sampled_from(["x.json", "x.jsonl", "x.yaml"]))
def test_any_value_is_read_or_rejected(value: Any, name: str) -> None:
    data = yaml.safe_dump(value).encode() if name == "x.yaml" else json.dumps(value).encode()
    assert all(each.problem or each.kind in KINDS for each in survives(data, name))


HEADS = [
    b"",
    b"\x1f\x8b",
    b"data: ",
    b"interactions:\n",
    b"httprr trace v1\n",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"> POST /v1 HTTP/1.1\n< HTTP/1.1 200 OK\n< \n",
    b"\xff\xfe",
    b"\xef\xbb\xbf{",
    b"\x28\xb5\x2f\xfd",
    b"{",
    b'{"request": ',
    b"[",
    b'{"a":1}\n',
]


@given(st.sampled_from(HEADS), st.binary(), st.sampled_from(["x", "x.json", "x.jsonl.gz", "x.yml", "x.har"]))
def test_any_bytes_are_read_or_rejected(head: bytes, data: bytes, name: str) -> None:
    assert all(each.problem or each.kind in KINDS for each in survives(head + data, name))


@pytest.mark.slow
def test_every_recording_is_read(shared: Path) -> None:
    paths = sorted((shared / "recordings").glob("*.jsonl.gz"))
    inputs: Iterable[Input] = [each for path in paths for each in read_path(path)]
    assert len(paths) > 40
    assert [] == [str(each.problem) for each in inputs if each.problem]
    unknown = {Path(each.path).name.partition(".")[0] for each in inputs if each.kind == "native"}
    assert {"messages", "responses"}.isdisjoint(unknown)
    assert not any(each.conversation for each in inputs if each.kind == "native")
    exchanges = [exchange for each in inputs for exchange in each.conversation]
    chats = [exchange for exchange in exchanges if not wires.is_native(exchange)]
    assert 2116 == len(chats)
    assert all(exchange.date for exchange in chats)
    held = [each for each in inputs if each.session and each.conversation]
    sessions = [each.session for each in held if not wires.is_native(each.conversation[0])]
    assert (158, 158) == (len(sessions), len(set(sessions)))


@pytest.mark.slow
def test_every_capture_is_read(shared: Path) -> None:
    found = [each for path in sorted((shared / "captures").glob("*.jsonl.gz")) for each in read_path(path)]
    assert {("exchanges", None)} == {(each.kind, each.problem) for each in found}


def test_every_original_file_is_read(shared: Path) -> None:
    kinds: dict[str, int] = {}
    for path in sorted((shared / "recordings" / "original").iterdir()):
        if path.name in UNSUPPORTED:
            with pytest.raises(InvalidDocument, match="expected"):
                raise next(each.problem for each in survives(path.read_bytes(), path.name) if each.problem)
            continue
        (found,) = read_path(path)
        assert found.conversation, path.name
        assert found.problem is None
        assert all(exchange.status or found.kind not in {"cassette", "har"} for exchange in found.conversation)
        kinds[found.kind] = kinds.get(found.kind, 0) + 1
    expected = {"cassette": 34, "nock": 1, "response": 4, "har": 1, "stream": 1, "chunks": 1}
    assert expected == kinds
