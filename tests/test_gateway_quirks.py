"""What an honest gateway may do with bytes is no finding: headers, comments, chunks, keys, events, ids, white space."""

import copy
import gzip
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx
import orjson
import pytest

from conformance.gateways import runs
from conformance.gateways.playing import Front
from conformance.gateways.runs import CaseResult
from conformance.gateways.upstream import serving_upstream
from conformance.results import Status
from conformance.transport.http import HttpReply
from tests.gateways import DATA, MadeGateway, is_stream, made_gateway, on_streams, on_values, whole_body
from tests.harmless_quirks import FURTHER
from tests.loops import every
from tests.test_gateways import profile_of

CASES = ("one-tool-call", "parallel-tool-calls", "echo-escapes", "single/usage-details", "single/tools", "single/image")


def _headers(reply: HttpReply) -> HttpReply:
    added = {"x-request-id": "req-1", "x-gateway-cache": "miss", "server": "gateway", "cache-control": "no-cache"}
    return replace(reply, headers={**reply.headers, **added})


def _commented(text: bytes) -> list[bytes]:
    return [
        each for event in text.split(b"\n\n") if event for each in (b": gateway is processing\n\n", event + b"\n\n")
    ]


def _cut_anywhere(text: bytes) -> list[bytes]:
    return [text[start : start + 7] for start in range(0, len(text), 7)]


def _lines_of_windows(text: bytes) -> list[bytes]:
    return [text.replace(b"\n", b"\r\n")]


def _split_deltas(text: bytes) -> list[bytes]:
    return [part for event in text.split(b"\n\n") if event for part in _halves(event)]


def _halves(event: bytes) -> Iterator[bytes]:
    found = DATA.search(event)
    chunk: Any = orjson.loads(found[1]) if found else {}
    delta = chunk["choices"][0]["delta"] if chunk.get("choices") else {}
    for key in ("content", "reasoning_content"):
        if len(delta.get(key) or "") > 1 and set(delta) <= {key, "role"}:
            for piece in (delta[key][:1], delta[key][1:]):
                made = copy.deepcopy(chunk)
                made["choices"][0]["delta"][key] = piece
                yield b"data: " + orjson.dumps(made) + b"\n\n"
            return
    yield event + b"\n\n"


def _own_members(value: Any) -> Any:
    return value | {"x_gateway": {"latency_ms": 3, "route": "a"}, "provider": "one"} if "choices" in value else value


def _more_usage(value: Any) -> Any:
    if value.get("usage"):
        value["usage"] |= {"cost": 0.0003, "is_byok": False, "prompt_cache_hit_tokens": 0}
    return value


def _calls_of(body: dict[str, Any], change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    made = copy.deepcopy(body)
    messages = made.get("messages") or [each["message"] for each in made["choices"]]
    for message in messages:
        for call in message.get("tool_calls") or ():
            change(call)
        if message.get("role") == "tool":
            change(message)
    return made


def _with_own_ids(each: dict[str, Any]) -> None:
    key = "tool_call_id" if "tool_call_id" in each else "id"
    each[key] = f"toolu_gw{each[key].encode().hex()}"


def _with_theirs(each: dict[str, Any]) -> None:
    key = "tool_call_id" if "tool_call_id" in each else "id"
    each[key] = bytes.fromhex(each[key].removeprefix("toolu_gw")).decode()


def _spaced(call: dict[str, Any]) -> None:
    if "function" in call:
        value = orjson.loads(call["function"]["arguments"])
        call["function"]["arguments"] = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()


def _text_parts(body: dict[str, Any]) -> dict[str, Any]:
    made = copy.deepcopy(body)
    for message in made["messages"]:
        if message["role"] in ("user", "system") and isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"]}]
    return made


def _for_openai(body: dict[str, Any]) -> dict[str, Any]:
    made = _text_parts(body)
    for message in made["messages"]:
        message["role"] = "developer" if message["role"] == "system" else message["role"]
    for tool in made.get("tools") or ():
        tool["function"]["strict"] = False
    return made | ({"max_completion_tokens": made.pop("max_tokens")} if "max_tokens" in made else {})


def _with_details(body: dict[str, Any]) -> dict[str, Any]:
    made = copy.deepcopy(body)
    for message in made["messages"]:
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            if part["type"] == "image_url":
                part["image_url"]["detail"] = "auto"
    return made


def _pinged(text: bytes) -> list[bytes]:
    ping = b'event: ping\ndata: {"type": "ping"}\n\n'
    return [each for event in text.split(b"\n\n") if event for each in (event + b"\n\n", ping)][:-1]


def _gzipped(reply: HttpReply) -> HttpReply:
    body = gzip.compress(whole_body(reply))
    parts = (body[:20], body[20:]) if is_stream(reply) else body
    return replace(reply, body=parts, headers={**reply.headers, "content-encoding": "gzip"})


def _escaped(reply: HttpReply) -> HttpReply:
    """Return a reply whose JSON has every character beyond ASCII, and every slash, as an escape."""

    def made(value: Any) -> bytes:
        return json.dumps(value).replace("/", "\\/").encode()

    if not is_stream(reply):
        return replace(reply, body=made(orjson.loads(whole_body(reply))))
    text = DATA.sub(lambda match: b"data: " + made(orjson.loads(match[1])), whole_body(reply))
    return replace(reply, body=(text,))


def _no_line_ends(text: bytes) -> list[bytes]:
    return [text.replace(b"data: ", b"data:")]


def _with_retry(text: bytes) -> list[bytes]:
    return [b"retry: 3000\n\n", *[b"id: 7\n" + each + b"\n\n" for each in text.split(b"\n\n") if each]]


def _null_members(value: Any) -> Any:
    for choice in value.get("choices") or ():
        (choice.get("message") or choice.get("delta") or {}).setdefault("refusal", None)
    return value


QUIRKS: tuple[tuple[str, tuple[str, str], dict[str, Any]], ...] = (
    ("headers", ("messages", "chat"), {"quirk": _headers}),
    ("comments", ("chat", "chat"), {"quirk": on_streams(_commented)}),
    ("comments", ("responses", "chat"), {"quirk": on_streams(_commented)}),
    ("chunks of 7 bytes", ("messages", "chat"), {"quirk": on_streams(_cut_anywhere)}),
    ("chunks of 7 bytes", ("gemini", "chat"), {"quirk": on_streams(_cut_anywhere)}),
    ("sorted keys", ("chat", "chat"), {"quirk": on_values(lambda value: value, orjson.OPT_SORT_KEYS)}),
    ("sorted keys", ("messages", "chat"), {"quirk": on_values(lambda value: value, orjson.OPT_SORT_KEYS)}),
    ("merged events", ("responses", "chat"), {"quirk": on_streams(lambda text: [text])}),
    ("split deltas", ("chat", "chat"), {"quirk": on_streams(_split_deltas)}),
    ("added usage", ("chat", "chat"), {"quirk": on_values(_more_usage)}),
    ("own members", ("chat", "messages"), {"quirk": on_values(_own_members)}),
    ("lines of Windows", ("chat", "chat"), {"quirk": on_streams(_lines_of_windows)}),
    (
        "ids of its own",
        ("messages", "chat"),
        {
            "reply": lambda body: _calls_of(body, _with_own_ids),
            "request": lambda body: _calls_of(body, _with_theirs),
        },
    ),
    ("white space in arguments", ("messages", "chat"), {"request": lambda body: _calls_of(body, _spaced)}),
    ("white space in arguments", ("gemini", "chat"), {"request": lambda body: _calls_of(body, _spaced)}),
    ("texts as parts", ("messages", "chat"), {"request": _text_parts}),
    ("a temperature of its own", ("messages", "chat"), {"request": lambda body: {"temperature": 1.0, **body}}),
    ("words of OpenAI", ("messages", "chat"), {"request": _for_openai}),
    ("details of images", ("messages", "chat"), {"request": _with_details}),
    ("pings", ("messages", "chat"), {"quirk": on_streams(_pinged)}),
    ("always a stream behind", ("messages", "chat"), {"request": lambda body: {**body, "stream": True}}),
    ("another model", ("chat", "chat"), {"request": lambda body: {**body, "model": "deepseek-v4-pro"}}),
    ("gzip", ("chat", "chat"), {"quirk": _gzipped}),
    ("gzip", ("messages", "chat"), {"quirk": _gzipped}),
    ("escapes", ("chat", "chat"), {"quirk": _escaped}),
    ("escapes", ("messages", "chat"), {"quirk": _escaped}),
    ("escapes", ("responses", "chat"), {"quirk": _escaped}),
    ("escapes", ("gemini", "chat"), {"quirk": _escaped}),
    ("data without a space", ("responses", "chat"), {"quirk": on_streams(_no_line_ends)}),
    ("retry and ids", ("chat", "chat"), {"quirk": on_streams(_with_retry)}),
    ("retry and ids", ("messages", "chat"), {"quirk": on_streams(_with_retry)}),
    ("null members", ("chat", "messages"), {"quirk": on_values(_null_members)}),
    ("a user of its own", ("chat", "chat"), {"request": lambda body: {**body, "user": "gateway-1"}}),
)


@contextmanager
def _old_http(url: str) -> Iterator[str]:
    """Serve what is at a URL in HTTP/1.0, without a length, each reply ended by the end of its connection."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            got = httpx.post(
                url + self.path, content=body, headers={"content-type": "application/json"}, trust_env=False
            )
            self.send_response(got.status_code)
            self.send_header("content-type", got.headers["content-type"])
            self.end_headers()
            self.wfile.write(got.content)

        def log_message(self, *_: Any) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize(("front", "back"), [("chat", "chat"), ("messages", "chat"), ("responses", "chat")])
def test_http_of_old_is_no_finding(front: str, back: str) -> None:
    profile = profile_of(back)
    with (
        serving_upstream(profile) as upstream,
        made_gateway(MadeGateway(front, back, f"{upstream.url}/v1", translates=True)) as url,
        _old_http(url.removesuffix("/v1")) as old,
    ):
        end = Front(f"{old}/v1", front, profile.model)
        results = [runs.play(each, end, upstream) for each in runs.cases(front, profile, profile.model, CASES)]
    assert _found(results) == []


def _found(results: list[CaseResult]) -> list[Any]:
    return [
        (result.case.name, result.case.variant, outcome.rule, finding.message)
        for result in results
        for outcome in result.case.outcomes
        if outcome.status in (Status.FAILED, Status.ERRORED)
        for finding in outcome.findings
    ]


@pytest.mark.slow
@every(
    "named",
    [
        pytest.param(each, marks=pytest.mark.exhaustive if number % 4 else [], id=f"{each[0]} at {each[1][0]}")
        for number, each in enumerate((*QUIRKS, *FURTHER))
    ],
)
def test_a_quirk_is_no_finding(named: tuple[str, tuple[str, str], dict[str, Any]]) -> None:
    _, (front, back), does = named
    profile = profile_of(back)
    with (
        serving_upstream(profile) as upstream,
        made_gateway(MadeGateway(front, back, f"{upstream.url}/v1", translates=True, **does)) as url,
    ):
        end = Front(url, front, profile.model)
        results = [runs.play(each, end, upstream) for each in runs.cases(front, profile, profile.model, CASES)]
    assert _found(results) == []
    assert any([outcome.status is Status.PASSED for result in results for outcome in result.case.outcomes])
