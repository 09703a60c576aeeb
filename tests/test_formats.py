import base64
import contextlib
import gzip
import json
import tracemalloc
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from conformance.documents import BOUNDS
from conformance.errors import InvalidDocument
from conformance.resources import folder
from conformance.wire.exchange import Exchange
from conformance.wire.formats import KINDS, Input, read, read_path
from conformance.wire.formats.jsonl import Line, lines_of, open_lines, read_lines
from conformance.wire.formats.records import day, flat_headers, status_of
from conformance.wire.formats.streams import open_stream
from conformance.wire.pointer import REMOVE, edit

BYTES = folder("fixtures") / "bytes"
URL = "https://api.example.test/v1/chat/completions"
REQUEST = {"model": "m-asked", "messages": [{"role": "user", "content": "Hello"}]}
REPLY = {
    "object": "chat.completion",
    "created": 1767225600,
    "model": "m-replied",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
}
CHUNK = {
    "object": "chat.completion.chunk",
    "created": 1767225600,
    "model": "m-replied",
    "choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}],
}
EVENT = f"data: {json.dumps(CHUNK, separators=(',', ':'))}\n\n"
DONE = "data: [DONE]\n\n"
ERROR = {"error": {"message": "no", "type": "invalid_request_error"}}
HEADERS = {"Date": ["Thu, 01 Jan 2026 00:00:00 GMT"], "X-Twice": ["a", "b"]}

# Formats of single projects that are not read, and what is said of them.
UNSUPPORTED = {
    "INDEX.json": "an index of the files, not a recording",
    "OpenRouterTeam+ai-sdk-provider__response.jsonl": "lines with `json`, `comment` and `delay_ms`: one project's own",
}


def one(value: Any, name: str = "file") -> Input:
    data = value if isinstance(value, bytes) else (value if isinstance(value, str) else json.dumps(value)).encode()
    (found,) = read(data, name)
    return found


def lines(*values: Any) -> bytes:
    return b"".join((value if isinstance(value, str) else json.dumps(value)).encode() + b"\n" for value in values)


def cassette(request: dict[str, Any], response: dict[str, Any], **more: Any) -> bytes:
    item = {"request": {"method": "POST", "uri": URL, **request}, "response": response, **more}
    return yaml.safe_dump({"interactions": [item], "version": 1}).encode()


@pytest.mark.parametrize(
    ("kind", "value", "request_body", "response"),
    [
        ("request", REQUEST, REQUEST, None),
        ("messages", REQUEST["messages"], {"messages": REQUEST["messages"]}, None),
        ("response", REPLY, None, REPLY),
        ("response", ERROR, None, ERROR),
        ("response", {"object": "error", "message": "no"}, None, {"object": "error", "message": "no"}),
        ("chunks", CHUNK, None, EVENT + DONE),
        ("chunks", [CHUNK, CHUNK], None, EVENT + EVENT + DONE),
        ("chunks", [CHUNK, "data: [DONE]\n\n"], None, EVENT + DONE),
        ("exchange", {"request": REQUEST, "response": REPLY}, REQUEST, REPLY),
        ("exchange", {"request": None, "response": [CHUNK, ": cut"]}, None, EVENT + ": cut"),
        ("exchange", {"request": json.dumps(REQUEST), "response": json.dumps(REPLY)}, REQUEST, REPLY),
        ("exchange", {"request": REQUEST}, REQUEST, None),
        ("exchanges", [{"request": REQUEST, "response": REPLY}], REQUEST, REPLY),
        ("exchanges", {"exchanges": [{"request": REQUEST, "reply": REPLY, "deltas": None}]}, REQUEST, REPLY),
        ("stream", EVENT, None, EVENT),
        ("stream", "\n: comment\n\n" + EVENT, None, "\n: comment\n\n" + EVENT),
    ],
)
def test_a_value_is_taken_for_what_it_is(kind: str, value: Any, request_body: Any, response: Any) -> None:
    found = one(value)
    assert (kind, None) == (found.kind, found.problem)
    (exchange,) = found.conversation
    assert (request_body, response) == (exchange.request, exchange.response)
    assert exchange.streamed == (isinstance(response, str))
    assert kind in KINDS


def test_a_cut_stream_is_kept_to_the_last_byte() -> None:
    data = (BYTES / "cut.sse").read_bytes()
    assert data.decode() == one(data).conversation[0].response


def test_a_stream_may_begin_with_a_byte_order_mark() -> None:
    found = one((BYTES / "byte-order-mark.sse").read_bytes())
    assert ("stream", True) == (found.kind, found.conversation[0].streamed)


def test_chunks_without_framing_say_that_the_end_is_assumed() -> None:
    assert one([CHUNK]).notes == one(lines(CHUNK, CHUNK)).notes != ()
    expected: tuple[str, ...] = ()
    assert expected == one([CHUNK, DONE]).notes


def test_a_record_keeps_what_it_tells() -> None:
    record = {
        "request": REQUEST,
        "response": "Bad gateway",
        "status": 502,
        "headers": {"Content-Type": "text/plain", "Retry-After": 3},
        "url": URL,
        "recorded_at": "Thu, 12 Jun 2025 16:30:01 GMT",
        "provider": "example",
        "session": "s",
    }
    found = one(record)
    headers = {"content-type": "text/plain", "retry-after": "3"}
    expected = Exchange(REQUEST, "Bad gateway", 502, False, headers, URL, "m-asked", "2025-06-12")  # noqa: FBT003
    assert (expected,) == found.conversation
    assert ("example", "s") == (found.provider, found.session)


@pytest.mark.parametrize(
    ("date", "record"),
    [
        ("2024-05-01", {"date": "2024-05-01", "recorded_at": "2025-06-12T10:00:00Z"}),
        ("2025-06-12", {"recorded_at": "2025-06-12T10:00:00Z", "created_ts": 1700000000}),
        ("2025-06-12", {"headers": {"date": "Thu, 12 Jun 2025 16:30:01 GMT"}, "created_ts": 1700000000}),
        ("2023-11-14", {"recorded_at": None, "created_ts": 1700000000, "commit_date": "2025-06-12"}),
        ("2026-01-01", {"response": REPLY, "commit_date": "2025-06-12"}),
        ("2026-01-01", {"response": EVENT, "commit_date": "2025-06-12"}),
        ("2025-06-12", {"response": ERROR, "commit_date": "2025-06-12T10:31:47-07:00"}),
        ("", {"response": ERROR}),
        ("", {"reply": REPLY}),
    ],
)
def test_the_date_is_that_of_the_exchange_before_that_of_its_file(date: str, record: dict[str, Any]) -> None:
    assert date == one({"request": REQUEST, **record}).conversation[0].date


@pytest.mark.parametrize(
    ("expected", "moment"),
    [
        ("2025-06-02", "Mon, 02 Jun 2025 01:02:03 GMT"),
        ("2025-06-02", "Monday, 2-Jun-2025 01:02:03 GMT"),
        ("2025-06-02", "2025-06-02T01:02:03.5+02:00"),
        ("2025-06-02", "2025-06-02"),
        ("2023-11-14", 1700000000),
        ("2023-11-14", 1700000000123),
        ("", 0),
        ("", 10**30),
        ("", float("1e308")),
        ("", True),
        ("", "yesterday"),
        ("", "Mon, 02 Foo 2025"),
        ("", None),
    ],
)
def test_a_moment_has_its_day(expected: str, moment: Any) -> None:
    assert expected == day(moment)


@pytest.mark.parametrize(
    ("expected", "kept"),
    [(200, 200), (200, "200 OK"), (404, {"code": 404}), (404, {"code": "404"}), (None, 0), (None, "OK"), (None, True)],
)
def test_a_status_is_read_in_each_form(expected: int | None, kept: Any) -> None:
    assert expected == status_of(kept)


def test_headers_are_read_in_each_form() -> None:
    expected = {"a": "1, 2", "b": "3"}
    for kept in (
        {"A": ["1", "2"], "B": "3"},
        [{"name": "A", "value": "1"}, {"name": "a", "value": "2"}, {"name": "b", "value": 3}],
        {"A": "1, 2", "b": 3},
    ):
        assert expected == flat_headers(kept)


def test_the_model_is_the_one_asked_for_before_the_one_that_replied() -> None:
    for expected, record in (
        ("m-asked", {"request": REQUEST, "response": REPLY, "model": "m-named"}),
        ("m-named", {"request": None, "response": REPLY, "model": "m-named"}),
        ("m-replied", {"request": None, "response": REPLY}),
        ("m-replied", {"request": {"messages": []}, "response": EVENT}),
        ("", {"request": {"messages": []}, "response": ERROR}),
    ):
        assert expected == one(record).conversation[0].model


REQUEST_TEXT = json.dumps(REQUEST)
REPLY_TEXT = json.dumps(REPLY)
GZIPPED = gzip.compress(REPLY_TEXT.encode(), mtime=0)
FRAMED = f"{len(EVENT):x}\r\n{EVENT}\r\n{len(DONE):x};x=y\r\n{DONE}\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    ("request_part", "response_part", "expected"),
    [
        ({"body": REQUEST_TEXT}, {"body": {"string": REPLY_TEXT}, "status": {"code": 200, "message": "OK"}}, REPLY),
        ({"body": REQUEST_TEXT.encode()}, {"body": {"string": REPLY_TEXT.encode()}, "status": {"code": 200}}, REPLY),
        ({"body": REQUEST_TEXT}, {"body": {"string": GZIPPED}, "status": {"code": 200}}, REPLY),
        ({"body": REQUEST_TEXT}, {"body": {"string": GZIPPED.decode("latin-1")}, "status": {"code": 200}}, REPLY),
        ({"body": {"encoding": "UTF-8", "string": REQUEST_TEXT}}, {"body": {"base64_string": "e30="}, "code": 200}, {}),
        ({"body": REQUEST_TEXT}, {"body": {"string": [EVENT[:20], EVENT[20:], DONE]}, "code": 200}, EVENT + DONE),
        ({"body": REQUEST_TEXT}, {"body": {"string": EVENT}, "status": {"code": 200}}, EVENT),
        ({"body": REQUEST_TEXT}, {"body": EVENT, "status": "200 OK", "code": 200}, EVENT),
        ({"body": REQUEST_TEXT}, {"content": REPLY_TEXT, "status_code": 200}, REPLY),
        ({"parsed_body": REQUEST}, {"parsed_body": REPLY, "status": {"code": 200}}, REPLY),
        ({"body": REQUEST_TEXT}, {"body": {"string": "<html>"}, "status": {"code": 200}}, "<html>"),
        ({"body": REQUEST_TEXT}, {"body": {"string": ""}, "status": {"code": 200}}, ""),
    ],
)
def test_a_cassette_is_read_in_each_form(
    request_part: dict[str, Any], response_part: dict[str, Any], expected: Any
) -> None:
    found = one(cassette(request_part, {"headers": HEADERS, **response_part}))
    assert ("cassette", (2,), 2, None) == (found.kind, found.lines, found.line, found.problem)
    (exchange,) = found.conversation
    assert (REQUEST, expected, 200, URL) == (exchange.request, exchange.response, exchange.status, exchange.url)
    assert (isinstance(expected, str) and "data:" in expected) == exchange.streamed
    assert ("2026-01-01", "a, b") == (exchange.date, exchange.headers["x-twice"])


def test_chunked_framing_is_taken_off_where_all_of_a_body_has_it() -> None:
    headers = {"Transfer-Encoding": ["chunked"]}
    for expected, kept in ((EVENT + DONE, FRAMED), (EVENT, EVENT), (FRAMED[:-5], FRAMED[:-5])):
        found = one(cassette({"body": REQUEST_TEXT}, {"headers": headers, "body": {"string": kept}, "code": 200}))
        assert expected == found.conversation[0].response


def test_a_ruby_cassette_is_read_with_its_aliases_and_dates() -> None:
    data = f"""---
http_interactions:
- request:
    method: post
    uri: {URL}
    body: {{encoding: UTF-8, string: '{REQUEST_TEXT}'}}
    headers: &1 {{Accept: ["*/*"]}}
  response:
    status: {{code: 200, message: OK}}
    headers: *1
    body:
      encoding: ASCII-8BIT
      string: !binary |-
        {base64.b64encode(REPLY_TEXT.encode()).decode()}
  recorded_at: Thu, 19 Feb 2026 16:22:15 GMT
recorded_with: VCR 6.4.0
"""
    found = one(data)
    (exchange,) = found.conversation
    assert (REQUEST, REPLY, "2026-02-19") == (exchange.request, exchange.response, exchange.date)
    assert (3,) == found.lines


def test_what_is_not_chat_completions_is_left_out_and_named() -> None:
    items = [
        {"request": {"method": "POST", "uri": "https://x.test/v1/messages", "body": REQUEST_TEXT}, "response": {}},
        {
            "request": {"method": "GET", "uri": "https://x.test/v1/models?page=1"},
            "response": {"body": {"string": "{}"}},
        },
        {"request": {"method": "GET", "uri": "https://x.test/v1/models?page=2"}, "response": {"body": {"string": "<"}}},
        {"request": {"method": "POST", "url": "https://x.test/serve", "body": REQUEST}, "response": {"body": REPLY}},
        "nonsense",
    ]
    found = one({"interactions": items})
    assert [REPLY] == [exchange.response for exchange in found.conversation]
    expected = (
        "left out, as it is not chat completions: POST https://x.test/v1/messages",
        "left out, as it is not chat completions: GET https://x.test/v1/models (2 times)",
        "left out, as it is not chat completions:  ",
    )
    assert expected == found.notes


@pytest.mark.parametrize(
    ("request_part", "response_part", "message"),
    [
        ({"body": '{"model": "m", "model": "n"}'}, {}, "expected each key once, got 'model' again"),
        ({"body": '{"messages": ['}, {}, "got the end of the text (at /messages/0)"),
        ({"body": REQUEST_TEXT}, {"body": {"string": GZIPPED[:-9]}}, "expected gzip data to their end"),
        ({"body": REQUEST_TEXT}, {"body": {"string": b"\x1f\x8bgarbage"}}, "expected gzip data, got"),
        ({"body": REQUEST_TEXT}, {"body": {"string": b"\xffgarbage"}}, "expected a body of UTF-8 text, plain or gzip"),
        ({"body": REQUEST_TEXT}, {"body": {"base64_string": "x"}}, "expected base64"),
        ({"body": REQUEST_TEXT}, {"body": {"base64_string": "é"}}, "expected base64"),
        ({"body": REQUEST_TEXT}, {"body": {"string": "\x1f\x8b\u4e2d"}}, "damaged by a conversion to text"),
        ({"parsed_body": {"messages": b"x"}}, {}, "expected a body of JSON values"),
    ],
)
def test_one_broken_interaction_loses_no_other(
    request_part: dict[str, Any], response_part: dict[str, Any], message: str
) -> None:
    good = {"request": {"method": "POST", "uri": URL, "body": REQUEST_TEXT}, "response": {"code": 200}}
    bad = {"request": {"method": "POST", "uri": URL, **request_part}, "response": response_part}
    first, second = read(yaml.safe_dump({"interactions": [good, bad, good]}).encode(), "file")
    assert (2, None) == (len(first.conversation), first.problem)
    assert second.problem
    assert message in second.problem.message
    assert ("file", "/interactions/1") == (second.problem.file, second.problem.pointer)
    assert second.problem.line == second.line == 9


def test_a_body_that_unpacks_beyond_the_bound_is_refused() -> None:
    bomb = zlib.compress(b"0" * (BOUNDS.bytes + 1), wbits=31)
    with pytest.raises(InvalidDocument, match="once unpacked"):
        one(bomb)


def test_nock_is_read_with_its_scope() -> None:
    reply = EVENT.encode().hex()
    for kept in (EVENT, reply, [reply[:40], reply[40:]]):
        item = {
            "scope": "https://api.example.test:443",
            "method": "POST",
            "path": "/v1/chat/completions",
            "body": REQUEST,
            "status": 200,
            "response": kept,
            "rawHeaders": ["Date", "Thu, 01 Jan 2026 00:00:00 GMT"],
        }
        (exchange,) = one([item]).conversation
        assert (REQUEST, EVENT, True) == (exchange.request, exchange.response, exchange.streamed)
        assert ("https://api.example.test:443/v1/chat/completions", "2026-01-01") == (exchange.url, exchange.date)


@pytest.mark.parametrize(
    "content",
    [
        {"text": REPLY_TEXT},
        {"text": base64.b64encode(REPLY_TEXT.encode()).decode(), "encoding": "base64"},
        {"text": json.dumps([base64.b64encode(GZIPPED).decode()]), "encoding": "base64"},
    ],
)
def test_an_archive_is_read_in_each_form(content: dict[str, str]) -> None:
    entry = {
        "startedDateTime": "2026-01-01T00:00:00Z",
        "request": {"method": "POST", "url": URL, "postData": {"text": REQUEST_TEXT}},
        "response": {"status": 200, "headers": [{"name": "X-A", "value": "1"}], "content": content},
    }
    other = {"request": {"method": "GET", "url": "https://x.test/"}, "response": {"content": {}}}
    found = one({"log": {"version": "1.2", "entries": [entry, other, None]}})
    (exchange,) = found.conversation
    assert ("har", REPLY, "2026-01-01") == (found.kind, exchange.response, exchange.date)
    assert "left out, as it is not chat completions: GET https://x.test/" == found.notes[0]


def test_a_trace_of_httprr_is_read() -> None:
    sent = f"POST {URL} HTTP/1.1\r\nHost: x\r\n\r\n{REQUEST_TEXT}".encode()
    got = f"HTTP/2.0 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n{REPLY_TEXT}".encode()
    trace = b"httprr trace v1\n%d %d\n%s%s" % (len(sent), len(got), sent, got)
    found = one(trace)
    (exchange,) = found.conversation
    assert (REQUEST, REPLY, 200, "2026-01-01") == (exchange.request, exchange.response, exchange.status, exchange.date)
    with pytest.raises(InvalidDocument, match=r"^file:2: expected the lengths"):
        one(trace[:-1])


def test_a_broken_line_loses_no_other() -> None:
    path = BYTES / "broken-line.jsonl"
    expected = [
        (1, "exchange", None),
        (2, "jsonl", "/request"),
        (4, "jsonl", "/request"),
        (5, "exchanges", None),
    ]
    for found in (list(read_path(path)), list(read(path.read_bytes(), str(path)))):
        places = [(each.line, each.kind, each.problem.pointer if each.problem else None) for each in found]
        assert expected == sorted(places)
        problems = [each.problem for each in found if each.problem]
        assert [(str(path), 2), (str(path), 4)] == [(each.file, each.line) for each in problems]


def session(name: str, number: int) -> dict[str, Any]:
    return {"session": name, "request": {"messages": [], "n": number}, "response": REPLY}


def test_lines_of_one_session_are_one_conversation() -> None:
    data = lines(session("a", 0), session("a", 1), REQUEST, session("b", 2), session("a", 3), session("c", 4))
    found = list(read(data, "x.jsonl"))
    expected = [("exchanges", (1, 2)), ("request", ()), ("exchange", (4,)), ("exchange", (5,)), ("exchange", (6,))]
    assert expected == [(each.kind, each.lines) for each in found]
    assert ["a", "", "b", "a", "c"] == [each.session for each in found]
    assert ["its session was met before"] == [note[:26] for each in found for note in each.notes]


def test_a_broken_line_within_a_session_is_noted_on_it() -> None:
    problem, whole = read(lines(session("a", 0), "{", session("a", 1)), "x.jsonl")
    assert (2, 2) == (problem.line, len(whole.conversation))
    assert ["lines within it cannot be read"] == [note[:30] for note in whole.notes]


def test_a_line_of_another_api_is_left_out_and_named() -> None:
    record = {"api": "anthropic", "request": {}, "response": {}, "provider": "p"}
    found = one(lines(record, "")[:-1], "x.jsonl")
    expected = ("native", (), ("left out, as it is not chat completions: api 'anthropic'",))
    assert expected == (found.kind, found.conversation, found.notes)


def test_lines_are_told_by_their_content_too() -> None:
    for name in ("x.txt", "x.json", "x"):
        assert ["request", "request"] == [each.kind for each in read(lines(REQUEST, REQUEST), name)]
        assert ["request"] == [each.kind for each in read(json.dumps(REQUEST, indent=1).encode(), name)]


def test_a_line_beyond_the_bound_is_reported_and_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n' + b" " * 300_000 + b"1" * 300_000 + b'\n\n{"b": 2}'))
    with open_stream(path) as stream:
        found = list(lines_of(stream, "x", bound=1000))
    assert [(1, b'{"a": 1}'), (2, b""), (4, b'{"b": 2}')] == [(line.number, line.data) for line in found]
    assert ["x:2: expected at most 1000 bytes a line, got more"] == [
        str(line.problem) for line in found if line.problem
    ]


@pytest.mark.parametrize("cut", [20, 200, -4])
def test_damaged_gzip_ends_with_a_problem(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(lines(*({**REQUEST, "n": number * 7919 % 1009} for number in range(500))))[:cut])
    *whole, last = read_path(path)
    assert {"request"} >= {each.kind for each in whole}
    assert last.problem
    assert f"{path}:{len(whole) + 1}: cannot be read beyond this line" in str(last.problem)


def test_long_files_of_lines_are_read_in_constant_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    line = json.dumps({**REQUEST, "padding": "x" * 50_000}).encode() + b"\n"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(1000):
            stream.write(line)
    tracemalloc.start()
    count = sum(len(each.conversation) for each in read_path(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (1000, True) == (count, peak < 2_000_000)


def test_lines_can_be_split_from_their_reading(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(lines(REQUEST, REPLY))
    assert [(1, False), (2, False)] == [(line.number, line.problem is not None) for line in open_lines(path)]
    expected = ["request", "response"]
    assert expected == [each.kind for each in read_lines(open_lines(path), str(path))]
    assert expected[1:] == [each.kind for each in read_lines([Line(2, json.dumps(REPLY).encode())], str(path))]


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"", 1, "got an empty file"),
        (b" \n ", 1, "got an empty file"),
        (b"hello", 1, "got text that begins with 'hello'"),
        (b"{}", 1, "got an object with the keys none"),
        (b'{"a": 1, "b": 2}', 1, "got an object with the keys 'a', 'b'"),
        (b"[]", 1, "got an empty list"),
        (b"[1, 2]", 1, "got a list whose items are not all of one of these kinds"),
        (b'{"a":\n1,}', 2, "expected a key in double quotes"),
        (b"interactions: 1", 1, "got YAML without a list of `interactions`"),
        (b"interactions:\n  a: ]", 2, "expected YAML"),
        (b'[{"request": 1}, 1]', 1, "got a list"),
        (b'{"exchanges": [1]}', None, "expected an exchange"),
        (b'{"request": "{"}', None, "its text is not a sound body"),
        (b"\xef\xbb\xbf{}", 1, "got a byte order mark"),
        (b"\x1f\x8b", None, "expected gzip data"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_would_be(data: bytes, line: int | None, message: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        list(read(data, "file"))
    assert ("file", line) == (caught.value.file, caught.value.line)
    assert message in caught.value.message


@pytest.mark.parametrize("name", ["", "missing.json"])
def test_a_path_that_cannot_be_opened_is_refused(tmp_path: Path, name: str) -> None:
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
def test_any_value_is_read_or_refused(value: Any, name: str) -> None:
    data = yaml.safe_dump(value).encode() if name == "x.yaml" else json.dumps(value).encode()
    assert all(each.problem or each.kind in KINDS for each in survives(data, name))


HEADS = [
    b"",
    b"\x1f\x8b",
    b"data: ",
    b"interactions:\n",
    b"httprr trace v1\n",
    b"{",
    b'{"request": ',
    b"[",
    b'{"a":1}\n',
]


@given(st.sampled_from(HEADS), st.binary(), st.sampled_from(["x", "x.json", "x.jsonl.gz", "x.yml", "x.har"]))
def test_any_bytes_are_read_or_refused(head: bytes, data: bytes, name: str) -> None:
    assert all(each.problem or each.kind in KINDS for each in survives(head + data, name))


def test_every_recording_is_read(shared: Path) -> None:
    paths = sorted((shared / "recordings").glob("*.jsonl.gz"))
    inputs: Iterable[Input] = [each for path in paths for each in read_path(path)]
    assert len(paths) > 40
    assert [] == [str(each.problem) for each in inputs if each.problem]
    natives = [each for each in inputs if each.kind == "native"]
    assert {"anthropic_native.jsonl.gz", "gemini_native.jsonl.gz"} == {Path(each.path).name for each in natives}
    chats = [exchange for each in inputs for exchange in each.conversation]
    assert (2116, 297) == (len(chats), len(natives))
    assert all(exchange.date for exchange in chats)
    sessions = {each.session for each in inputs if each.session}
    assert 158 == len(sessions)
    assert 158 == len([each for each in inputs if each.session])


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
    expected = {"cassette": 35, "response": 4, "har": 1, "stream": 1, "chunks": 1}
    assert expected == kinds
