"""The simulator over real HTTP: whatever a client sends, it gets a proper answer and the server lives on."""

import json
import socket
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.transport.http import HttpReply, is_host_served, is_origin_served
from conformance.transport.server import serving
from tests.loops import every
from tests.sampling import examples

pytestmark = pytest.mark.slow

NAMES = ("openai", "deepseek", "groq", "mistral", "gemini_openai_compat", "vllm", "litellm")
PATH = "/v1/chat/completions"
EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 — nothing is bound
WEATHER = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}


def exchange(url: str, data: bytes) -> tuple[int, bytes]:
    """Send bytes over a socket of their own and return the status and the body of the reply."""
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def chat(**members: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "Hello"}], **members}


HOSTILE: list[Any] = [
    {},
    [],
    "text",
    None,
    5,
    {"messages": [{"role": "user", "content": "Hello"}]},
    chat(model=None),
    chat(model=5),
    chat(model={}),
    chat(messages=["x"]),
    chat(messages="x"),
    chat(messages=[]),
    chat(messages=[{"role": "user", "content": 5}]),
    chat(messages=[{"role": "bogus", "content": "Hello"}]),
    chat(messages=[{}]),
    chat(messages=[{"role": []}]),
    chat(tools="x"),
    chat(tools=[5]),
    chat(tools=[{"type": "function", "function": {"name": {}}}]),
    chat(temperature="x"),
    chat(n=2**63),
    chat(max_tokens=-1),
    chat(max_tokens=2**63),
    chat(stop=[5]),
    chat(response_format="x"),
    chat(logprobs="x"),
    chat(stream="yes"),
    chat(stream_options=[]),
    chat(tool_choice=[]),
    chat(tool_choice={"type": "function", "function": {"name": []}}),
    chat(tool_choice={"type": "allowed_tools", "allowed_tools": {"tools": [[]]}}),
]
SCHEMAS: list[Any] = [
    {"type": "object", "required": [{}]},
    {"type": "object", "properties": {"a": {}}, "required": ["a", "b", 5]},
    {"type": [{}]},
    {"properties": [], "required": "a"},
    {"$ref": "#/properties/a", "properties": {"a": {"$ref": "#"}}},
    {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}, "required": ["a", "b"]},
    {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "string", "pattern": "(((((a{999}){999}){999}"}},
    },
    {"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "minItems": 10**12, "items": {}}}},
    {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "minimum": 2**63}}},
    {"type": "object", "required": ["a"], "properties": {"a": {"type": "number", "multipleOf": 5e-324}}},
    {"anyOf": [{"$ref": "#"}]},
]


@pytest.mark.parametrize("provider", NAMES)
def test_hostile_bodies_are_answered(urls: dict[str, str], client: httpx.Client, provider: str) -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": schema}} for schema in SCHEMAS]
    bodies = [*HOSTILE, *[chat(tools=[tool]) for tool in tools], *[chat(tools=[tool], stream=True) for tool in tools]]
    bodies += [
        chat(response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": schema}})
        for schema in SCHEMAS
    ]
    for body in bodies:
        reply = client.post(f"{urls[provider]}{PATH}", json=body)
        assert reply.status_code < 500, (body, reply.text)
        assert reply.text


RAW: list[bytes] = [
    b"",
    b"{",
    b"\xff",
    b"\xef\xbb\xbf{}",
    b'{"model": "\\ud800", "messages": []}',
    b'{"model": "m", "messages": [{"role": "user", "content": "\\udc00"}]}',
    b'{"a": ' * 300 + b"1" + b"}" * 300,
    b"[" * 100_000,
    b'{"model": "m", "n": 1' + b"0" * 5000 + b"}",
    b'{"model": "m", "temperature": NaN}',
    b'{"model": "m", "model": "n"}',
]


@pytest.mark.parametrize("body", RAW, ids=lambda body: body[:24].decode(errors="replace"))
def test_bodies_that_are_no_json_are_refused(urls: dict[str, str], client: httpx.Client, body: bytes) -> None:
    for url in urls.values():
        reply = client.post(f"{url}{PATH}", content=body, headers={"content-type": "application/json"})
        assert 400 <= reply.status_code < 500


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "x"])
def test_other_content_types_are_refused(urls: dict[str, str], client: httpx.Client, kind: str) -> None:
    body = json.dumps(chat()).encode()
    assert 415 == client.post(f"{urls['openai']}{PATH}", content=body, headers={"content-type": kind}).status_code


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", PATH, 405),
        ("PUT", PATH, 405),
        ("DELETE", "/v1/models", 405),
        ("HEAD", "/v1/models", 200),
        ("POST", "/v1/completions", 404),
        ("OPTIONS", "/", 404),
        ("OPTIONS", "*", 204),
        ("OPTIONS", PATH, 204),
        ("OPTIONS", "/v1/models", 204),
        ("HEAD", PATH, 405),
        ("GET", "/s/no-such-scenario/v1/models", 404),
        ("GET", "/s/%00%ff/v1/models", 404),
        ("GET", "/s/../v1/models", 404),
        ("BREW", "/", 400),
    ],
)
def test_unknown_paths_and_methods_are_refused(
    urls: dict[str, str], client: httpx.Client, method: str, path: str, status: int
) -> None:
    answered, body = exchange(
        urls["openai"],
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode(),
    )
    assert status == answered
    assert (method == "HEAD" or status == 204) == (not body)
    assert not body or json.loads(body)["error"]["message"]


BODY = json.dumps(chat()).encode()
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (HEAD + b"\r\n", 411),
        (HEAD + b"\r\n" + BODY, 400),
        (HEAD + b"Content-Length: -5\r\n\r\n" + BODY, 400),
        (HEAD + b"Content-Length: x\r\n\r\n" + BODY, 400),
        (HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + BODY, 400),
        (HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
        (HEAD + b"Content-Length: 16777217\r\n\r\n", 413),
        (HEAD + b"Content-Length: 9999\r\n\r\n" + BODY, 400),
        (HEAD + b"Content-Length: 5\r\n\r\n" + BODY, 400),
        (HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY, 200),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY), 200),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nx\r\n", 400),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\n", 400),
        (HEAD + b"Transfer-Encoding: gzip\r\n\r\n", 400),
        (b"nonsense\r\n\r\n", 400),
        (b"POST /v1/chat/completions HTTP/1.1\r\n\r\n", 400),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n", 431),
    ],
)
def test_odd_framing_is_answered(urls: dict[str, str], data: bytes, status: int) -> None:
    assert status == exchange(urls["openai"], data)[0]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:1234", 200),
        ("localhost", 200),
        ("LOCALHOST:80", 200),
        ("api.localhost", 200),
        ("[::1]:80", 200),
        ("127.8.8.8", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example", 421),
        ("192.168.0.7", 421),
        ("user@localhost", 421),
        ("", 421),
    ],
)
def test_only_loopback_names_are_served(urls: dict[str, str], host: str, status: int) -> None:
    data = f"GET /v1/models HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
    answered, body = exchange(urls["openai"], data)
    assert status == answered
    assert status == 200 or "Host" in json.loads(body)["error"]["message"]


@pytest.mark.parametrize(
    ("host", "bound", "expected"),
    [
        ("simulator.lan:8080", "simulator.lan", True),
        ("192.168.0.7:8080", "192.168.0.7", True),
        ("192.168.0.7", EVERY_ADDRESS, True),
        ("simulator", EVERY_ADDRESS, True),
        ("host.docker.internal:8080", EVERY_ADDRESS, True),
        ("evil.example", EVERY_ADDRESS, False),
        ("localhost", EVERY_ADDRESS, True),
    ],
)
def test_the_host_that_it_is_bound_to_is_served(host: str, bound: str, expected: bool) -> None:  # noqa: FBT001
    assert expected is is_host_served(host, bound)


FOREIGN = (
    "https://evil.example", "null", "", "file://", "chrome-extension://abcdef", "http://localhost.evil.example",
    "http://127.0.0.1.nip.io", "http://localhost@evil.example", "http://localhost, https://evil.example",
    "http://192.168.0.7", "http://6.6.6.6:8080", "ftp://localhost", "http://localhost/path", "localhost",
)  # fmt: skip
OWN = (
    "http://localhost:3000",
    "HTTP://LOCALHOST",
    "https://127.0.0.1",
    "http://127.8.8.8",
    "http://[::1]:80",
    "http://a.localhost",
)


@every(("origin", "expected"), [*[(each, 403) for each in FOREIGN], *[(each, 200) for each in OWN]])
def test_only_pages_of_this_machine_are_served_on_every_wire(urls: dict[str, str], origin: str, expected: int) -> None:
    user = {"role": "user", "content": "Hello"}
    google = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
    asked: list[tuple[str, dict[str, Any]]] = [
        (PATH, chat()),
        (PATH, chat(stream=True)),
        ("/v1/messages", {"model": "m", "max_tokens": 9, "messages": [user], "stream": True}),
        ("/v1/responses", {"model": "m", "input": "Hello"}),
        ("/v1beta/models/m:streamGenerateContent?alt=sse", google),
    ]
    for path, body in asked:
        content = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: {origin}\r\nConnection: close\r\n"
        status, reply = exchange(urls["openai"], f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        assert expected == status
        assert status == 200 or "Origin" in json.loads(reply)["error"]["message"]


def test_the_host_that_a_request_names_may_be_that_of_the_page() -> None:
    for origin, host, expected in (
        ("http://simulator.lan:3000", "simulator.lan:8080", True),
        ("http://192.168.0.7", "192.168.0.7:8080", True),
        ("http://192.168.0.8", "192.168.0.7:8080", False),
        ("http://evil.example", "", False),
    ):
        assert expected is is_origin_served(origin, host)


def test_every_server_checks_the_sender() -> None:
    with serving(lambda _request: HttpReply(200, b"ok")) as url:
        assert 421 == exchange(url, b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")[0]
        asked = b"OPTIONS /v1/messages HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n"
        assert 403 == exchange(url, asked)[0]


numbers = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
calls = st.fixed_dictionaries(
    {
        "id": st.just("call_a") | json_values,
        "function": st.fixed_dictionaries({"name": st.just("f"), "arguments": json_values}),
    }
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool"]) | json_values},
    optional={
        "content": st.sampled_from(["Hello", "What is the weather in Paris?"]) | json_values,
        "tool_calls": st.lists(calls | json_values, max_size=2) | json_values,
        "tool_call_id": st.just("call_a") | json_values,
        "reasoning_content": json_values,
    },
)
keywords = st.sampled_from(
    ["type", "properties", "required", "items", "enum", "const", "anyOf", "allOf", "$ref", "pattern", "minItems",
     "minimum", "multipleOf", "minLength", "additionalProperties"]
)  # fmt: skip
schemas = st.recursive(
    json_values | st.sampled_from(["object", "array", "string", "integer", "#"]),
    lambda inner: st.dictionaries(keywords, inner, max_size=4) | st.lists(inner, max_size=2),
    max_leaves=10,
)
tools = st.fixed_dictionaries(
    {
        "type": st.just("function") | json_values,
        "function": st.fixed_dictionaries({"name": st.just("f") | json_values, "parameters": schemas}),
    }
)
formats = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["json_schema", "json_object", "text"]) | json_values,
        "json_schema": st.fixed_dictionaries({"name": st.just("a"), "schema": schemas}) | json_values,
    }
)
PARAMETERS = ("stream_options", "stop", "seed", "max_completion_tokens", "top_logprobs", "temperature", "thinking")
bodies = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(PARAMETERS, json_values),
        "model": st.sampled_from(["m", "gpt-5", "deepseek-v4-pro"]) | json_values,
        "messages": st.lists(messages | json_values, max_size=4) | json_values,
        "tools": st.lists(tools | json_values, max_size=2) | json_values,
        "tool_choice": st.sampled_from(["auto", "none", "required", {"type": "function", "function": {"name": "f"}}])
        | json_values,
        "response_format": formats | json_values,
        "stream": st.booleans() | json_values,
        "n": st.integers(-1, 3) | json_values,
        "max_tokens": st.integers(-1, 30) | json_values,
        "logprobs": st.booleans() | json_values,
    },
)


@settings(
    max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(body=bodies | json_values, provider=st.sampled_from(NAMES))
def test_any_json_is_answered(urls: dict[str, str], client: httpx.Client, body: Any, provider: str) -> None:
    raw = json.dumps(body, allow_nan=False).encode()
    reply = client.post(f"{urls[provider]}{PATH}", content=raw, headers={"content-type": "application/json"})
    assert reply.status_code < 500, reply.text
    assert reply.text
