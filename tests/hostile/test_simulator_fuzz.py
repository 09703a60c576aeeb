"""No request makes the simulator raise or fail: mutated bodies at every endpoint, and heads of any bytes."""

import copy
import json
import re
import socket
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance import profiles, scenarios
from conformance.errors import Unusable
from conformance.simulator import Simulator, simulated
from conformance.simulator.sessions import SessionServer
from conformance.strategies import faults, requests
from conformance.transport.client import SIMULATOR_ERROR
from conformance.transport.http import HttpReply, HttpRequest
from tests.sampling import examples

pytestmark = pytest.mark.slow

SCENARIOS = scenarios.names()
VARIANTS = ("/v1", "", *[f"/s/{name}/v1" for name in SCENARIOS])
ENDPOINTS = ("/chat/completions", "/models", "/models/m", "/models/no-such-model", "/completions", "")
METHODS = ("POST", "GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH")
TYPES = ("application/json", "application/json; charset=utf-8", "", "text/plain", "application/vnd.api+json", "é\udcff")
HEADER = re.compile(r"[\t\x20-\x7e\x80-\xff]*")

odd = st.one_of(
    st.sampled_from(
        [None, True, False, 0, -1, 1e308, 2**63, -(2**63), "", "x", "\x00", "雪", [], {}, [[]], [{}], {"": 0}]
    ),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=4),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
        max_leaves=6,
    ),
).map(copy.deepcopy)
"""Values of every type; copies, since they are changed later."""

MEMBERS = (
    "messages", "model", "tools", "tool_choice", "stream", "stream_options", "response_format", "stop", "n",
    "max_tokens", "max_completion_tokens", "logprobs", "top_logprobs", "seed", "temperature", "thinking", "reasoning",
    "reasoning_effort", "parallel_tool_calls", "functions", "chat_template_kwargs", "enable_thinking", "user",
    "content", "role", "tool_calls", "tool_call_id", "name", "arguments", "function", "id", "type", "parameters",
    "properties", "required", "anyOf", "$ref", "enum", "items", "reasoning_content", "reasoning_details", "index",
)  # fmt: skip
"""Names of members that requests, messages, calls and schemas have."""


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value inside a JSON value."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield (*above, key)
        yield from places(inner, (*above, key))


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """Draw a body that a correct or a faulty client sends, with up to four values replaced, removed or doubled."""
    drawn = draw(requests() | faults().map(lambda fault: fault.conversation[-1].request))
    body = copy.deepcopy(drawn)
    body |= draw(st.fixed_dictionaries({}, optional=dict.fromkeys(MEMBERS[:12], odd)) | st.just({}))
    for _ in range(draw(st.integers(0, 4))):
        paths = list(places(body))
        if not paths:
            break
        *above, key = draw(st.sampled_from(paths))
        parent = body
        for step in above:
            parent = parent[step]
        match draw(st.sampled_from(["replace", "remove", "double", "add", "rename"])):
            case "replace":
                parent[key] = draw(odd)
            case "remove":
                del parent[key]
            case "double" if isinstance(parent, list):
                parent.insert(key, copy.deepcopy(parent[key]))
            case "add" if isinstance(parent, dict):
                parent[draw(st.sampled_from(MEMBERS))] = draw(odd)
            case "rename" if isinstance(parent, dict):
                parent[draw(st.text(max_size=4))] = parent.pop(key)
    return body


@cache
def simulator(provider: str) -> Simulator:
    return Simulator(profiles.load(provider))


@cache
def claimed_statuses(provider: str) -> frozenset[int]:
    """Return the statuses from 500 on that a profile claims."""
    profile = profiles.load(provider)
    text = repr((profile.claims, profile.models))
    return frozenset(map(int, re.findall(r"\b5\d\d\b", text)))


def assert_sound(provider: str, request: HttpRequest, reply: HttpReply) -> None:
    """Check that a reply can be sent, is not a failure that nobody claims, and holds what its headers say."""
    content = reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)
    assert SIMULATOR_ERROR.encode() not in content, content
    assert reply.status < 500 or reply.status in claimed_statuses(provider), (request, content)
    assert all(HEADER.fullmatch(value) for value in reply.headers.values())
    if reply.headers.get("content-type") == "application/json" and not content.startswith(b"data: "):
        json.loads(content)
    content.decode("utf-8")


bodies = st.one_of(
    mutated().map(lambda body: json.dumps(body).encode()),
    mutated().map(lambda body: json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")[:-1]),
    odd.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=40),
)
paths = st.one_of(
    st.builds("{}{}".format, st.sampled_from(VARIANTS), st.sampled_from(ENDPOINTS)),
    st.builds("{}{}{}".format, st.sampled_from(VARIANTS), st.sampled_from(ENDPOINTS), st.text(max_size=6)),
    st.builds("/s/{}/v1/chat/completions".format, st.text(max_size=6)),
    st.text(max_size=12),
)
heads = st.tuples(st.sampled_from(METHODS) | st.text(max_size=6), paths, st.sampled_from(TYPES) | st.text(max_size=8))
completions = st.tuples(st.just("POST"), st.sampled_from(VARIANTS).map("{}/chat/completions".format), st.just(TYPES[0]))
fuzzed = settings(
    max_examples=examples(600), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.mark.exhaustive
@fuzzed
@given(provider=st.sampled_from(profiles.names()), head=completions | heads, body=bodies)
def test_any_request_to_any_endpoint_of_any_provider_is_answered(
    provider: str, head: tuple[str, str, str], body: bytes
) -> None:
    method, path, kind = head
    request = HttpRequest(method, path, {"content-type": kind} if kind else {}, body)
    assert_sound(provider, request, simulator(provider).answer(request))


@settings(fuzzed, max_examples=examples(150))
@given(data=st.data(), provider=st.sampled_from(profiles.names()), scenario=st.sampled_from(SCENARIOS))
def test_any_requests_to_a_session_are_answered(data: st.DataObject, provider: str, scenario: str) -> None:
    server = SessionServer()
    server.url = "http://localhost"
    try:
        session = server.open(
            scenarios.load(scenario), profiles.load(provider), strict=data.draw(st.booleans(), label="strict")
        )
    except Unusable:
        return
    for _ in range(data.draw(st.integers(1, 4), label="requests")):
        endpoint = data.draw(st.sampled_from(ENDPOINTS) | st.just(ENDPOINTS[0]) | st.text(max_size=6), label="endpoint")
        path = session.base_url.removeprefix(server.url) + endpoint
        method = data.draw(st.sampled_from(("POST", "POST", *METHODS)), label="method")
        request = HttpRequest(method, path, {"content-type": TYPES[0]}, data.draw(bodies, label="body"))
        assert_sound(provider, request, server.answer(request))
    assert "" == session.fault


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with simulated(profiles.load("openai")) as url:
        yield url


CONTENT = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'
GOOD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
GOOD += b"Content-Length: %d\r\n\r\n" % len(CONTENT) + CONTENT
FRAGMENTS = (
    b"\r\n", b"\n", b"\x00", b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\n", b"Host: evil.example\r\n",
    b"HTTP/1.0", b"Connection: upgrade\r\nUpgrade: websocket\r\n", b"Expect: 100-continue\r\n", b"http://localhost/",
    b"OPTIONS * ", b"CONNECT ", b"HEAD ", b"GET ", b"Content-Encoding: gzip\r\n", b"5\r\nhello\r\n0\r\n\r\n",
    b"Host:\r\n", b"Host: [::1]\r\n", b"%ff", b"\xff",
)  # fmt: skip
"""Bytes that change the framing of a request."""


@settings(fuzzed, max_examples=examples(300))
@given(data=st.data())
def test_any_bytes_are_answered_without_a_failure(url: str, data: st.DataObject) -> None:
    sent = bytearray(GOOD)
    for _ in range(data.draw(st.integers(0, 5), label="mutations")):
        at = data.draw(st.integers(0, len(sent)), label="at")
        length = data.draw(st.integers(0, 8), label="length")
        sent[at : at + length] = data.draw(st.binary(max_size=8) | st.sampled_from(FRAGMENTS), label="bytes")
    replies = exchange(url, bytes(sent) * data.draw(st.integers(1, 3), label="times"))
    assert [] == re.findall(rb"HTTP/1.[01] 5\d\d", replies)


def exchange(url: str, sent: bytes) -> bytes:
    """Send bytes, close the sending side, and return all that comes until the server closes the connection."""
    host, _, port = url.removeprefix("http://").partition(":")
    pieces = []
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                pieces.append(piece)
        except (BrokenPipeError, ConnectionResetError):
            """The server had refused the first of the bytes."""
    return b"".join(pieces)
