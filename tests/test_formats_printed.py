"""Text logs: what SDKs and HTTP clients print, values in the middle of a text, and the failures in exceptions."""

import json
import logging
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO
from threading import Thread
from typing import Any

import pytest

from conformance.errors import Unrecognized
from conformance.formats import Input, failures, read
from conformance.formats.printed_values import UnreadableValue, value_at
from tests.loops import every
from tests.wires import lines, one

MUST_BE_PASSED = "The `reasoning_content` in the thinking mode must be passed back to the API."
BODY = {"error": {"message": MUST_BE_PASSED, "type": "invalid_request_error", "param": None}}
RAISED = f"openai.BadRequestError: Error code: 400 - {BODY}"
REQUEST = {"messages": [{"role": "user", "content": 'It\'s "Oslo"?\n'}], "model": "m", "stream": True}
URL = "https://api.deepseek.com/chat/completions"
OPTIONS = f"Request options: {{'method': 'post', 'url': '/chat/completions', 'files': None, 'json_data': {REQUEST!r}}}"
REFUSED = f'HTTP Request: POST {URL} "HTTP/1.1 400 Bad Request"'
ACCEPTED = f'HTTP Request: POST {URL} "HTTP/1.1 200 OK"'


def said(found: Input) -> list[tuple[Any, ...]]:
    return [(each.request, each.status, each.response) for each in found.conversation]


def log(*printed: str) -> Input:
    return one("\n".join(f"2026-09-01 10:00:00 INFO app: {each}" for each in printed).encode(), "app.log")


@every(
    ("text", "expected"),
    [
        ("{'a': [1, -2.5, None, True], \"b\": ('x', b'y')}", {"a": [1, -2.5, None, True], "b": ["x", "y"]}),
        ("{ a: 'it\\'s', 'b-c': undefined, d: null, e: `x` }", {"a": "it's", "d": None, "e": "x"}),
        ("{\n  a: 'one ' +\n    'two',\n  b: Headers { c: '1' }\n}", {"a": "one two", "b": {"c": "1"}}),
        ('{"a": "\\u00e9\\ud83d\\ude00\\n"}', {"a": "é😀\n"}),
        ("Headers({'date': 'x'}) and more", {"date": "x"}),
        ("[r'\\n', '\\x41\\101'[:0]", None),
        ("{ messages: [Array] }", None),
        ("{'f': <function g at 0x7f>}", None),
        ("{'a': 'it is cut he", None),
        ("[" * 500, None),
    ],
)
def test_a_value_is_read_where_it_begins(text: str, expected: Any) -> None:
    try:
        found = value_at("x " + text, 2)[0]
    except UnreadableValue:
        found = None
    assert expected == found


@every(
    ("text", "expected"),
    [
        (RAISED, (400, MUST_BE_PASSED, True)),
        (f'BadRequestError("Error code: 400 - {BODY}")Traceback (most recent call last):', (400, MUST_BE_PASSED, True)),
        (f"Error code: 400 - {MUST_BE_PASSED}", (400, MUST_BE_PASSED, False)),
        (f"BadRequestError: 400 {MUST_BE_PASSED}", (400, MUST_BE_PASSED, False)),
        ('400 {"type":"error","error":{"type":"invalid_request_error","message":"m"}}', (400, "m", True)),
        (f"litellm.BadRequestError: DeepseekException - {json.dumps(BODY)}", (400, MUST_BE_PASSED, True)),
        ("litellm.RateLimitError: AnthropicException - slow down", (429, "AnthropicException - slow down", False)),
        ("ClientError: 400 INVALID_ARGUMENT. {'error': {'code': 400, 'message': 'm'}}", (400, "m", True)),
        ("error, status code: 400, status: 400 Bad Request, message: m", (400, "m", False)),
        ('unexpected status 400 Bad Request: {"detail":"m"}', (400, "m", True)),
        ("Connection error.", (None, "Connection error.", False)),
        ("took 412.5 s with 400 items", (None, "took 412.5 s with 400 items", False)),
    ],
)
def test_a_failure_has_the_status_and_the_body_in_its_text(text: str, expected: tuple[int | None, str, bool]) -> None:
    found = failures.of_text(text)
    assert expected == (found.status, found.message, found.is_body)


def test_a_request_its_status_and_the_exception_are_one_call() -> None:
    found = log(OPTIONS, f"Sending HTTP Request: POST {URL}", REFUSED, "Encountered", RAISED, "During handling", RAISED)
    assert [(REQUEST, 400, BODY)] == said(found)
    assert (URL, "m", (1,)) == (found.conversation[0].url, found.conversation[0].model, found.lines)


def test_calls_of_one_thread_are_told_apart() -> None:
    found = log(
        OPTIONS, ACCEPTED, f"HTTP Response: POST {URL} \"200 OK\" Headers({{'date': 'x'}})", OPTIONS, REFUSED, RAISED
    )
    assert [(REQUEST, 200, None), (REQUEST, 400, BODY)] == said(found)
    assert {"date": "x"} == found.conversation[0].headers


def test_calls_that_overlap_are_checked_apart() -> None:
    found = log(OPTIONS, OPTIONS, ACCEPTED, REFUSED, RAISED)
    assert [(REQUEST, None, None), (REQUEST, None, None), (None, 400, BODY)] == said(found)
    assert any("calls overlap in this log" in note for note in found.notes)


def test_a_call_that_was_tried_again_does_not_wait_for_a_reply() -> None:
    found = log(OPTIONS, "Retrying request to /chat/completions in 0.4 seconds", OPTIONS, REFUSED, RAISED)
    assert [(REQUEST, None, None), (REQUEST, 400, BODY)] == said(found)


def test_what_is_no_failure_of_an_api_is_not_read() -> None:
    other = 'HTTP Request: POST https://hooks.example.test/notify "HTTP/1.1 404 Not Found"'
    price = "litellm.utils.Exception: This model isn't mapped yet"
    assert [] == said(log(other, price, ACCEPTED))
    for text in ("2026-09-01 listening on port 400\n", "Error code: none\n"):
        with pytest.raises(Unrecognized):
            list(read(text.encode(), "app.log"))


def test_colours_and_prefixes_of_lines_do_not_matter() -> None:
    coloured = f"web-1  | \x1b[31m[ERROR]\x1b[0m {RAISED}\r\n"
    assert [(None, 400, BODY)] == said(one(coloured.encode(), "compose.txt"))


@every(
    "records",
    [
        [{"event": "failed", "level": "error", "exception": f"Traceback:\n{RAISED}"}],
        [{"message": REFUSED, "levelname": "INFO"}, {"message": RAISED, "levelname": "ERROR"}],
        [
            {
                "level": 50,
                "msg": "failed",
                "err": {"message": f"400 {MUST_BE_PASSED}", "status": 400, "error": BODY["error"]},
            }
        ],
        [{"text": "x", "record": {"level": {"name": "ERROR"}, "message": RAISED}}],
        [{"log": f"{RAISED}\n", "stream": "stderr", "time": "2026-09-01T10:00:00Z"}],
        [{"severity": "ERROR", "textPayload": RAISED, "insertId": "a"}],
    ],
)
def test_the_log_of_a_program_is_read_in_each_form_of_json(records: list[dict[str, Any]]) -> None:
    start = {"level": "info", "msg": "started"}
    for data in (lines(start, *records), lines(*records, start), json.dumps(records).encode()):
        assert [(None, 400, BODY)] == said(one(data, "app.log"))


def test_a_log_without_calls_says_so() -> None:
    found = one(lines({"level": "info", "msg": "started"}, {"level": "info", "msg": "stopped"}), "app.jsonl")
    assert ((), 1) == (found.conversation, found.line)
    assert "without requests or failures of an API; --map" in found.notes[0]


class Refusing(BaseHTTPRequestHandler):
    """Rejects every request as DeepSeek does."""

    def do_POST(self) -> None:
        body = json.dumps(BODY).encode()
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Stay silent."""


@pytest.fixture
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Refusing) as found:
        thread = Thread(target=found.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{found.server_port}"
        found.shutdown()
        thread.join()


@pytest.mark.slow
def test_what_the_installed_sdks_log_now_is_read(server: str, caplog: pytest.LogCaptureFixture) -> None:
    import anthropic
    import openai

    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("[%(asctime)s - %(name)s:%(lineno)d - %(levelname)s] %(message)s"))
    logging.getLogger().addHandler(handler)
    caplog.set_level(logging.DEBUG)
    messages: Any = REQUEST["messages"]
    try:
        openai.OpenAI(api_key="k", base_url=f"{server}/v1", max_retries=0).chat.completions.create(
            model="m", messages=messages
        )
    except openai.BadRequestError:
        logging.exception("failed")
    try:
        anthropic.Anthropic(api_key="k", base_url=server, max_retries=0).messages.create(
            model="m", max_tokens=9, messages=messages
        )
    except anthropic.BadRequestError:
        logging.exception("failed")
    logging.getLogger().removeHandler(handler)
    found = one(stream.getvalue().encode(), "app.log")
    assert [400, 400] == [each.status for each in found.conversation]
    assert [MUST_BE_PASSED] * 2 == [failures.message_of(each.response) for each in found.conversation]
    assert [f"{server}/v1/chat/completions", f"{server}/v1/messages"] == [each.url for each in found.conversation]
    assert {"model": "m", "max_tokens": 9, "messages": messages} == found.conversation[1].request
