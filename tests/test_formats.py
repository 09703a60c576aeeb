import base64
import gzip
import json
import zlib
from typing import Any

import pytest
import yaml

from conformance.documents import BOUNDS
from conformance.errors import InvalidDocument
from conformance.formats import KINDS, read
from conformance.formats.records import date_of, flat_headers, status_of
from conformance.resources import folder
from conformance.wire.exchange import Exchange
from tests.loops import every
from tests.wires import (
    CHUNK,
    DONE,
    ERROR,
    EVENT,
    HEADERS,
    REPLY,
    REPLY_TEXT,
    REQUEST,
    REQUEST_TEXT,
    URL,
    cassette,
    lines,
    one,
)

BYTES = folder("fixtures") / "bytes"


@every(
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
def test_a_value_is_recognized(kind: str, value: Any, request_body: Any, response: Any) -> None:
    found = one(value)
    assert (kind, None) == (found.kind, found.problem)
    (exchange,) = found.conversation
    assert (request_body, response) == (exchange.request, exchange.response)
    assert exchange.streamed == (isinstance(response, str))
    assert kind in KINDS


def test_a_cut_stream_is_read_to_the_last_byte() -> None:
    data = (BYTES / "cut.sse").read_bytes()
    assert data.decode() == one(data).conversation[0].response


def test_a_stream_may_begin_with_a_byte_order_mark() -> None:
    found = one((BYTES / "byte-order-mark.sse").read_bytes())
    assert ("stream", True) == (found.kind, found.conversation[0].streamed)


def test_for_chunks_without_framing_a_note_says_that_the_end_is_assumed() -> None:
    assert one([CHUNK]).notes == one(lines(CHUNK, CHUNK)).notes != ()
    expected: tuple[str, ...] = ()
    assert expected == one([CHUNK, DONE]).notes


def test_a_record_is_read_with_all_its_keys() -> None:
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
def test_the_date_of_the_exchange_takes_precedence_over_that_of_its_file(date: str, record: dict[str, Any]) -> None:
    assert date == one({"request": REQUEST, **record}).conversation[0].date


@every(
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
        ("2025-06-02", "Monday, 02-Jun-25 01:02:03 GMT"),
        ("", "Mon, 02 Foo 2025 01:02:03 GMT"),
        ("", "Mon, 45 Jun 2025 01:02:03 GMT"),
        ("", " "),
        ("", None),
    ],
)
def test_a_date_is_read_in_each_form(expected: str, moment: Any) -> None:
    assert expected == date_of(moment)


@pytest.mark.parametrize(
    ("expected", "recorded"),
    [(200, 200), (200, "200 OK"), (404, {"code": 404}), (404, {"code": "404"}), (None, 0), (None, "OK"), (None, True)],
)
def test_a_status_is_read_in_each_form(expected: int | None, recorded: Any) -> None:
    assert expected == status_of(recorded)


def test_headers_are_read_in_each_form() -> None:
    expected = {"a": "1, 2", "b": "3"}
    for recorded in (
        {"A": ["1", "2"], "B": "3"},
        [{"name": "A", "value": "1"}, {"name": "a", "value": "2"}, {"name": "b", "value": 3}],
        {"A": "1, 2", "b": 3},
    ):
        assert expected == flat_headers(recorded)


def test_the_requested_model_takes_precedence_over_the_one_that_replied() -> None:
    for expected, record in (
        ("m-asked", {"request": REQUEST, "response": REPLY, "model": "m-named"}),
        ("m-named", {"request": None, "response": REPLY, "model": "m-named"}),
        ("m-replied", {"request": None, "response": REPLY}),
        ("m-replied", {"request": {"messages": []}, "response": EVENT}),
        ("", {"request": {"messages": []}, "response": ERROR}),
    ):
        assert expected == one(record).conversation[0].model


GZIPPED = gzip.compress(REPLY_TEXT.encode(), mtime=0)
FRAMED = f"{len(EVENT):x}\r\n{EVENT}\r\n{len(DONE):x};x=y\r\n{DONE}\r\n0\r\n\r\n"


@every(
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


def test_chunked_framing_is_removed_if_the_whole_body_has_it() -> None:
    headers = {"Transfer-Encoding": ["chunked"]}
    for expected, recorded in ((EVENT + DONE, FRAMED), (EVENT, EVENT), (FRAMED[:-5], FRAMED[:-5])):
        found = one(cassette({"body": REQUEST_TEXT}, {"headers": headers, "body": {"string": recorded}, "code": 200}))
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


def test_interactions_that_are_not_chat_completions_are_skipped_with_a_note() -> None:
    items = [
        {"request": {"method": "POST", "uri": "https://x.test/v1/embeddings", "body": "{}"}, "response": {}},
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
        "skipped, not chat completions: POST https://x.test/v1/embeddings",
        "skipped, not chat completions: GET https://x.test/v1/models (2 times)",
        "skipped, not chat completions: an interaction without a URL",
    )
    assert expected == found.notes


@pytest.mark.parametrize(
    ("request_part", "response_part", "message"),
    [
        ({"body": '{"model": "m", "model": "n"}'}, {}, "expected each key once, got 'model' again"),
        ({"body": '{"messages": ['}, {}, "got the end of the text (at /messages/0)"),
        ({"body": REQUEST_TEXT}, {"body": {"string": GZIPPED[:-9]}}, "expected complete gzip data"),
        ({"body": REQUEST_TEXT}, {"body": {"string": b"\x1f\x8bgarbage"}}, "expected gzip data, got"),
        (
            {"body": REQUEST_TEXT},
            {"body": {"string": b"\xffgarbage"}},
            "expected a body of UTF-8 text, plain or packed",
        ),
        ({"body": REQUEST_TEXT}, {"body": {"base64_string": "x"}}, "expected base64"),
        ({"body": REQUEST_TEXT}, {"body": {"base64_string": "é"}}, "expected base64"),
        ({"body": REQUEST_TEXT}, {"body": {"string": "\x1f\x8b\u4e2d"}}, "damaged by a conversion to text"),
        ({"parsed_body": {"messages": b"x"}}, {}, "expected a body of JSON values"),
    ],
)
def test_a_broken_interaction_does_not_affect_the_others(
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


@pytest.mark.slow
def test_a_body_that_unpacks_beyond_the_bound_is_rejected() -> None:
    bomb = zlib.compress(b"0" * (BOUNDS.bytes + 1), wbits=31)
    with pytest.raises(InvalidDocument, match="after decompression"):
        one(bomb)


def test_nock_is_read_with_its_scope() -> None:
    reply = EVENT.encode().hex()
    for recorded in (EVENT, reply, [reply[:40], reply[40:]]):
        item = {
            "scope": "https://api.example.test:443",
            "method": "POST",
            "path": "/v1/chat/completions",
            "body": REQUEST,
            "status": 200,
            "response": recorded,
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
    assert "skipped, not chat completions: GET https://x.test/" == found.notes[0]


def test_a_trace_of_httprr_is_read() -> None:
    sent = f"POST {URL} HTTP/1.1\r\nHost: x\r\n\r\n{REQUEST_TEXT}".encode()
    got = f"HTTP/2.0 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n{REPLY_TEXT}".encode()
    trace = b"httprr trace v1\n%d %d\n%s%s" % (len(sent), len(got), sent, got)
    found = one(trace)
    (exchange,) = found.conversation
    assert (REQUEST, REPLY, 200, "2026-01-01") == (exchange.request, exchange.response, exchange.status, exchange.date)
    with pytest.raises(InvalidDocument, match=r"^file:2: expected the lengths"):
        one(trace[:-1])
