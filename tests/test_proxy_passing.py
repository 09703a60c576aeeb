"""The path of the proxy: what goes in comes out, whatever it is and however it ends."""

import gzip
import json
import random
import socket
import threading
import time
from collections.abc import Iterator

import brotli
import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.documents import GrowingTexts
from conformance.proxy import passing as path
from conformance.proxy.passing import LEFT, TOO_LONG
from conformance.proxy.reading import read
from tests.hostile.peer import Asked, Peer, completion, serving
from tests.proxies import Desk, connect, passing, talk, unchunked
from tests.sampling import examples

EVENTS = [b'data: {"choices": [{"delta": {"content": "%d"}}]}\n\n' % number for number in range(5)]


def origin(peer: Peer) -> str:
    return peer.url.removesuffix("/v1")


def post(target: str = "/v1/chat/completions", body: bytes = b"{}", *headers: str) -> bytes:
    lines = [
        f"POST {target} HTTP/1.1",
        "Host: localhost",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *headers,
    ]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def head_of(raw: bytes) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in raw.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]:
        name, _, value = line.partition(": ")
        found.setdefault(name.lower(), []).append(value)
    return found


class Echo:
    """A provider that remembers the bytes of the last request, and sends the same reply to each."""

    def __init__(self) -> None:
        self.head, self.body = b"", b""
        self.headers: tuple[str, ...] = ()
        self.reply = completion()
        self.chunks: list[bytes] = []

    def __call__(self, asked: Asked) -> None:
        self.head, self.body = asked.head, asked.body
        if not self.chunks:
            asked.reply(self.reply, "Connection: close", *self.headers)
            return
        asked.start_stream("Connection: close")
        for chunk in self.chunks:
            asked.chunk(chunk)
        asked.send(b"0\r\n\r\n")


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk()


@pytest.fixture(scope="module")
def echo() -> Echo:
    return Echo()


@pytest.fixture(scope="module")
def url(echo: Echo, desk: Desk) -> Iterator[str]:
    with serving(echo) as peer, passing(origin(peer), desk) as found:
        yield found


TARGETS = (
    "/v1/chat/completions?api-version=2024-10-21&q=a%2Fb+c%20d&empty=&x=1&x=2",
    "//double//slash",
    "/a/../b/./c",
    "/%e4%bd%a0%2f%00?%zz",
    "/openai/deployments/gpt-4o/chat/completions?a",
    "/v1beta/models/gemini-3:streamGenerateContent?alt=sse",
    "/a;b=c@d:e,f'g(h)*!$&~",
)


@pytest.mark.parametrize("target", TARGETS)
def test_path_and_query_pass_as_they_are(url: str, echo: Echo, target: str) -> None:
    talk(url, post(target))
    assert target == echo.head.split(b" ")[1].decode()


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"])
def test_any_method_passes(url: str, echo: Echo, method: str) -> None:
    talk(url, post().replace(b"POST", method.encode(), 1))
    assert method.encode() == echo.head.split(b" ")[0]


def test_headers_pass_and_those_of_the_connection_do_not(url: str, echo: Echo) -> None:
    sent = ("Authorization: Bearer k", "X-Stainless-Lang: python", "X-A: 1", "X-A: 2", "Accept-Encoding: br;q=0.1")
    own = ("Keep-Alive: 5", "TE: deflate", "Proxy-Authorization: Basic eA==", "Upgrade: h2c")
    talk(url, post("/v1/x", b"{}", *sent, *own).replace(b"Connection: close", b"Connection: close, X-Hop\r\nX-Hop: 1"))
    got = head_of(echo.head)
    assert {name: got[name] for name in ("authorization", "x-stainless-lang", "x-a", "accept-encoding")} == {
        "authorization": ["Bearer k"], "x-stainless-lang": ["python"], "x-a": ["1", "2"],
        "accept-encoding": ["br;q=0.1"],
    }  # fmt: skip
    assert {"host", "content-length", "authorization", "x-stainless-lang", "x-a", "accept-encoding"} == set(got)
    assert got["host"][0].startswith("127.0.0.1:")


def test_headers_of_a_reply_pass_and_none_is_added(url: str, echo: Echo) -> None:
    echo.headers = ("Set-Cookie: a=1", "Set-Cookie: b=2", "X-Request-Id: r", "Keep-Alive: timeout=5", "Trailer: x")
    reply = talk(url, post())
    echo.headers = ()
    got = head_of(reply)
    assert {"content-type", "content-length", "set-cookie", "x-request-id", "connection", "trailer"} == set(got)
    assert ["a=1", "b=2"] == got["set-cookie"]


@pytest.mark.parametrize("pack", [gzip.compress, brotli.compress, bytes], ids=["gzip", "br", "plain"])
def test_packed_replies_pass_packed_and_are_read_unpacked(url: str, echo: Echo, desk: Desk, pack: object) -> None:
    assert callable(pack)
    echo.reply = pack(completion())
    coding = {"compress": {gzip.compress: "gzip", brotli.compress: "br"}.get(pack, "")}["compress"]
    echo.headers = (f"Content-Encoding: {coding}",) if coding else ()
    sent = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}]}).encode()
    reply = talk(url, post(body=sent))
    assert echo.reply == reply.partition(b"\r\n\r\n")[2]
    echo.reply, echo.headers = completion(), ()
    exchange = read(desk.copies[-1], GrowingTexts()).exchange
    assert exchange is not None
    assert json.loads(completion()) == exchange.response
    assert json.loads(sent) == exchange.request


@settings(max_examples=examples(40))
@given(
    seed=st.integers(0, 9),
    size=st.integers(0, 300_000),
    cuts=st.lists(st.integers(0, 300_000), max_size=6),
    chunked=st.booleans(),
)
def test_bodies_pass_however_they_are_split(
    url: str, echo: Echo, seed: int, size: int, cuts: list[int], *, chunked: bool
) -> None:
    body = random.Random(seed).randbytes(size)  # noqa: S311 — no secret
    ends = sorted({min(cut, len(body)) for cut in cuts} | {len(body)})
    parts = [body[start:end] for start, end in zip([0, *ends], ends, strict=False) if end > start]
    echo.reply, echo.chunks = body, parts if chunked else []
    framing = f"Content-Length: {len(body)}"
    with connect(url) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(f"POST /x HTTP/1.1\r\nHost: localhost\r\n{framing}\r\nConnection: close\r\n\r\n".encode())
        for part in parts:
            connection.sendall(part)
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, got = reply.partition(b"\r\n\r\n")
    echo.reply, echo.chunks = completion(), []
    assert body == echo.body
    assert (body, True) == (unchunked(got) if b"chunked" in head else (got, True))


def test_a_stream_passes_event_by_event_and_its_copy_is_whole() -> None:
    desk, go = Desk(), threading.Semaphore(0)

    def answer(asked: Asked) -> None:
        asked.start_stream()
        for event in EVENTS:
            asked.chunk(event)
            assert go.acquire(timeout=20)
        asked.send(b"0\r\n\r\n")

    with serving(answer) as peer, passing(origin(peer), desk) as url, httpx.Client(timeout=20) as client:
        seen = []
        with client.stream("POST", f"{url}/v1/chat/completions", content=b"{}") as reply:
            for data in reply.iter_raw():
                seen.append(data)
                # The next event is only sent when this one has arrived.
                go.release()
        assert EVENTS == seen
        assert b"".join(EVENTS) == desk.next().received


def test_a_chunked_request_passes_while_it_is_sent() -> None:
    got: list[bytes] = []

    def parts() -> Iterator[bytes]:
        for number in range(4):
            yield b"%d" % number * 50_000

    def answer(asked: Asked) -> None:
        data = asked.body
        while not data.endswith(b"\r\n0\r\n\r\n") and (more := asked.socket.recv(65536)):
            data += more
        got.append(unchunked(data)[0])
        asked.reply(completion())

    with serving(answer) as peer, passing(origin(peer)) as url:
        assert 200 == httpx.post(f"{url}/x", content=parts(), timeout=20).status_code
    assert b"".join(b"%d" % number * 50_000 for number in range(4)) == got[0]


def test_a_slow_reader_slows_the_provider() -> None:
    sent = [0]

    def answer(asked: Asked) -> None:
        asked.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        asked.start_stream()
        asked.socket.settimeout(1.0)
        try:
            for _ in range(2000):
                asked.chunk(b"x" * 65536)
                sent[0] += 65536
        except TimeoutError:
            return

    desk = Desk()
    with serving(answer) as peer, passing(origin(peer), desk) as url, connect(url) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        connection.sendall(post())
        # The client reads nothing: the provider has to stop long before the 128 MB that it would send.
        deadline = time.monotonic() + 20
        before = 0
        while (not sent[0] or before != sent[0]) and time.monotonic() < deadline:
            before = sent[0]
            time.sleep(0.4)
    assert 0 < sent[0] < 32 * 1024 * 1024


@pytest.mark.parametrize("how", ["end", "reset"])
def test_a_provider_that_dies_in_a_stream_ends_the_stream_without_its_end_mark(how: str) -> None:
    def answer(asked: Asked) -> None:
        asked.start_stream()
        asked.chunk(EVENTS[0])
        asked.wait(0.2)
        if how == "reset":
            asked.reset()

    desk = Desk()
    with serving(answer) as peer, passing(origin(peer), desk) as url:
        reply = talk(url, post(body=b'{"model": "m", "messages": []}'))
        copy = desk.next()
    assert (EVENTS[0], False) == unchunked(reply.partition(b"\r\n\r\n")[2])
    assert copy.cut.startswith(f"one that ended early, after {len(EVENTS[0])} bytes")
    exchange = read(copy, GrowingTexts()).exchange
    assert exchange is not None
    assert copy.cut == exchange.headers["x-conformance-cut"]


def test_a_shorter_body_than_declared_ends_the_connection_of_the_client() -> None:
    with serving(lambda asked: asked.reply(b"{}", length=10)) as peer, passing(origin(peer)) as url:
        reply = talk(url, post())
    assert b"{}" == reply.partition(b"\r\n\r\n")[2]
    assert ["10"] == head_of(reply)["content-length"]


@pytest.mark.parametrize(("broken", "words"), [("closed", "did not reply"), ("garbage", "did not reply")])
def test_a_provider_without_a_reply_is_a_502_in_json(broken: str, words: str) -> None:
    def answer(asked: Asked) -> None:
        if broken == "garbage":
            asked.send(b"SSH-2.0-OpenSSH\r\n\r\n")

    desk = Desk()
    with serving(answer) as peer, passing(origin(peer), desk) as url:
        reply = httpx.post(f"{url}/v1/chat/completions?key=secret", content=b"{}")
        lost = desk.next().lost
        assert (True, False) == (words in lost, "secret" in lost + reply.text)
    assert 502 == reply.status_code
    assert words in reply.json()["error"]["message"]
    assert "error" == reply.headers["x-conformance-proxy"]


def test_an_unreachable_provider_is_a_502_that_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with passing(f"http://127.0.0.1:{port}") as url:
        reply = httpx.post(f"{url}/v1/chat/completions?key=secret", content=b"{}")
    assert 502 == reply.status_code
    assert f"conformance proxy: 127.0.0.1:{port} cannot be reached: " in reply.json()["error"]["message"]
    assert "secret" not in reply.text


def test_errors_of_the_provider_pass(url: str, echo: Echo) -> None:
    def answer(asked: Asked) -> None:
        asked.reply(b'{"error": {"message": "no"}}', "Retry-After: 7", status="429 Slow Down")

    with serving(answer) as peer, passing(origin(peer)) as proxy:
        reply = talk(proxy, post())
    assert reply.startswith(b"HTTP/1.1 429 Slow Down\r\n")
    assert ["7"] == head_of(reply)["retry-after"]


def test_a_client_that_leaves_ends_the_request_at_the_provider() -> None:
    gone = threading.Event()

    def answer(asked: Asked) -> None:
        asked.start_stream()
        asked.chunk(EVENTS[0])
        asked.socket.settimeout(20)
        if not asked.socket.recv(1):
            gone.set()

    desk = Desk()
    with serving(answer) as peer, passing(origin(peer), desk) as url:
        with connect(url) as connection:
            connection.sendall(post())
            connection.recv(65536)
        assert gone.wait(20)
        assert LEFT == desk.next().lost
    assert 0 == desk.held


def test_a_body_beyond_the_bound_passes_and_its_copy_does_not_hold_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path, "MAX_EXCHANGE", 100_000)
    big, desk, echo = b"x" * 300_000, Desk(), Echo()
    echo.reply = big
    with serving(echo) as peer, passing(origin(peer), desk) as url:
        reply = talk(url, post(body=b"y" * 90_000))
        copy = desk.next()
    assert big == reply.partition(b"\r\n\r\n")[2]
    assert b"y" * 90_000 == echo.body
    assert (TOO_LONG, b"", b"") == (copy.lost, copy.sent, copy.received)
    assert 0 == desk.held


REFUSED = {
    "another host": (b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", 421),
    "a forward proxy": (b"GET http://api.openai.com/v1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 501),
    "a tunnel": (b"CONNECT api.openai.com:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 501),
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_pass_is_refused_plainly(url: str, name: str) -> None:
    request, status = REFUSED[name]
    reply = talk(url, request)
    assert status == int(reply.split()[1])
    error = json.loads(reply.partition(b"\r\n\r\n")[2])["error"]
    assert ("proxy_error", True) == (error["type"], bool(error["message"]))


def test_a_client_that_waits_for_leave_gets_it(url: str, echo: Echo) -> None:
    with connect(url) as connection:
        connection.sendall(post("/x", b"abc", "Expect: 100-continue").removesuffix(b"abc"))
        assert b"HTTP/1.1 100 Continue\r\n\r\n" == connection.recv(100)
        connection.sendall(b"abc")
        assert b"HTTP/1.1 200 OK" == connection.recv(15)
    assert b"abc" == echo.body
    assert "expect" not in head_of(echo.head)


def test_a_reply_to_head_has_the_length_and_no_body(url: str) -> None:
    def answer(asked: Asked) -> None:
        asked.reply(b"", length=1234)

    with serving(answer) as peer, passing(origin(peer)) as proxy:
        assert "1234" == httpx.head(f"{proxy}/v1/models").headers["content-length"]


def test_an_http_1_0_client_gets_its_stream_until_the_end_of_the_connection() -> None:
    def answer(asked: Asked) -> None:
        asked.start_stream()
        for event in EVENTS:
            asked.chunk(event)
        asked.send(b"0\r\n\r\n")

    with serving(answer) as peer, passing(origin(peer)) as url:
        reply = talk(url, b"GET / HTTP/1.0\r\n\r\n")
    assert b"".join(EVENTS) == reply.partition(b"\r\n\r\n")[2]
