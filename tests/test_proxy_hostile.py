"""Providers and clients that break HTTP: the proxy says so plainly, keeps its memory, and goes on."""

import contextlib
import gzip
import json
import socket
import time
import zlib
from collections.abc import Callable

import pytest

from conformance.documents import BOUNDS, GrowingTexts
from conformance.proxy.connections import BOUNDS as CLIENTS
from conformance.proxy.connections import MAX_HEADERS, MAX_LINE
from conformance.proxy.copies import Copy
from conformance.proxy.passing import UNENCODED
from conformance.proxy.reading import read
from conformance.transport.http import DEFAULT_BOUNDS, PeerBounds
from tests.hostile.peer import Asked, completion, serving
from tests.loops import every
from tests.proxies import Desk, connect, passing, talk

GET = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def origin(url: str) -> str:
    return url.removesuffix("/v1")


def raw(*parts: bytes, repeated: int = 1) -> Callable[[Asked], None]:
    def answer(asked: Asked) -> None:
        for part in parts:
            for _ in range(repeated):
                asked.send(part)

    return answer


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
BROKEN = {
    "a header without end": raw(OK + b"X-A: " + b"a" * 2 * MAX_LINE, b"a" * 1_000_000, repeated=30),
    "headers without end": raw(OK, b"X-A: 1\r\n" * 10_000, repeated=30),
    "a status line without end": raw(b"HTTP/1.1 200 " + b"a" * 2 * MAX_LINE),
    "no HTTP": raw(b"\x00" * 1000),
    "a chunk of no size": raw(CHUNKED + b"zz\r\nhello\r\n"),
    "a chunk of negative size": raw(CHUNKED + b"-5\r\nhello\r\n"),
    "a chunk larger than any number": raw(CHUNKED + b"f" * 30 + b"\r\nhello"),
    "a chunk longer than it says": raw(CHUNKED + b"5\r\nhello!\r\n0\r\n\r\n"),
    "two lengths": raw(OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
    "a length and chunks": raw(OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
    "a null in a header": raw(OK + b"X-A: a\x00b\r\nContent-Length: 2\r\n\r\n{}"),
}


@every("name", BROKEN)
def test_broken_http_of_a_provider_is_a_502_that_says_so(name: str) -> None:
    desk = Desk()
    with serving(BROKEN[name]) as peer, passing(origin(peer.url), desk) as url:
        reply = talk(url, GET)
        assert "did not reply: " in desk.next().lost
    head, _, body = reply.partition(b"\r\n\r\n")
    assert b"HTTP/1.1 502 Bad Gateway" == head.split(b"\r\n")[0]
    assert "proxy_error" == json.loads(body)["error"]["type"]
    assert (True, 0) == (len(reply) < 2000, desk.held)


def test_broken_http_after_the_head_ends_the_reply_without_an_end_mark() -> None:
    def answer(asked: Asked) -> None:
        asked.start_stream()
        asked.chunk(b"data: 1\n\n")
        asked.wait(0.3)
        asked.send(b"zz\r\nhello\r\n")

    desk = Desk()
    with serving(answer) as peer, passing(origin(peer.url), desk) as url:
        reply = talk(url, GET)
        assert desk.next().cut.startswith("one that ended early, after 9 bytes")
    assert reply.endswith(b"9\r\ndata: 1\n\n\r\n")


def test_interim_replies_without_number_do_not_hide_the_reply() -> None:
    def answer(asked: Asked) -> None:
        asked.send(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 2000)
        asked.reply(completion())

    with serving(answer) as peer, passing(origin(peer.url)) as url:
        assert talk(url, GET).startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.slow
@pytest.mark.parametrize("where", ["request", "reply"])
def test_a_packed_body_that_unpacks_to_too_much_is_not_checked(where: str) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(1 << 20)
    bomb = b"".join(packer.compress(block) for _ in range((BOUNDS.bytes >> 20) + 1)) + packer.flush()
    packed, plain = [("Content-Encoding", "gzip")], gzip.compress(b"{}")
    sent, received = (bomb, plain) if where == "request" else (plain, bomb)
    url = "http://localhost/v1/chat/completions"
    found = read(Copy(0, "POST", url, packed, sent, 200, "OK", packed, received), GrowingTexts())
    assert (None, True) == (found.exchange, found.reason.startswith(f"the {where}: expected at most"))


READ_AS = {
    "chunks and a length": b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "an unknown framing": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a chunk of no size": b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "a negative length": b"Content-Length: -1\r\n\r\n",
    "two hosts": b"Host: evil.example\r\n\r\n",
    "a header without end": b"X-A: " + b"a" * 2 * MAX_LINE,
    "too many headers": b"X-A: 1\r\n" * 2 * MAX_HEADERS + b"\r\n",
}


@pytest.mark.parametrize("name", READ_AS)
def test_a_request_that_two_servers_may_read_otherwise_reaches_no_provider(name: str) -> None:
    with serving(raw(OK + b"\r\n")) as peer, passing(origin(peer.url)) as url:
        reply = talk(url, b"POST /x HTTP/1.1\r\nHost: localhost\r\n" + READ_AS[name])
        assert 0 == peer.requests
    head, _, body = reply.partition(b"\r\n\r\n")
    assert b"400" == head.split(b" ")[1]
    assert "proxy_error" == json.loads(body)["error"]["type"]


def test_a_half_closed_provider_ends_the_reply_and_not_the_proxy() -> None:
    def answer(asked: Asked) -> None:
        asked.start_stream()
        asked.chunk(b"data: 1\n\n")
        asked.socket.shutdown(socket.SHUT_WR)
        asked.wait(0.3)

    with serving(answer) as peer, passing(origin(peer.url)) as url:
        for _ in range(2):
            assert talk(url, GET).endswith(b"9\r\ndata: 1\n\n\r\n")


@pytest.mark.parametrize("side", ["request", "reply"])
def test_bytes_of_headers_that_are_not_utf_8_are_counted(side: str) -> None:
    sent = b"X-A: na\xefve\r\n" if side == "request" else b""
    given = b"X-A: na\xefve\r\n" if side == "reply" else b"X-A: na\xc3\xafve\r\n"

    def answer(asked: Asked) -> None:
        asked.send(b"HTTP/1.1 200 OK\r\n" + given + b"Content-Length: 0\r\n\r\n")

    desk = Desk()
    with serving(answer) as peer, passing(origin(peer.url), desk) as url:
        talk(url, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + sent + b"\r\n")
        assert (UNENCODED,) == desk.next().missing


def test_a_provider_may_send_as_many_headers_as_a_client() -> None:
    many = [f"X-{number}: 1" for number in range(MAX_HEADERS - 10)]
    with serving(lambda asked: asked.reply(b"{}", *many)) as peer, passing(origin(peer.url)) as url:
        reply = talk(url, GET)
    assert all(f"\r\n{each}\r\n".encode() in reply for each in many)


def test_an_answer_before_the_request_is_whole_passes() -> None:
    def answer(asked: Asked) -> None:
        asked.reply(b'{"error": {"message": "too large"}}', "Connection: close", status="413 Too Large")

    with serving(answer) as peer, passing(origin(peer.url)) as url, connect(url) as connection:
        connection.sendall(b"POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 Too Large\r\n")


SLOW = PeerBounds(head_seconds=0.2, body_seconds=0.2, reply_seconds=0.2, idle_seconds=1)
POST = b"POST /v1/x HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.slow
@every(
    ("sent", "expected", "words"),
    [
        (b"POST /v1/x HTTP/1.1\r\nHost: loc", 408, b"the head of a request within 0.2 seconds"),
        (b"G", 408, b"the head of a request within 0.2 seconds"),
        (POST, 408, b"the head of a request within 0.2 seconds"),
        (POST + b"Content-Length: 100\r\n\r\n{", 408, b"the whole body within 0.2 seconds"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n", 408, b"the whole body within 0.2 seconds"),
    ],
)
def test_a_client_that_is_too_slow_gets_an_error_of_the_proxy(sent: bytes, expected: int, words: bytes) -> None:
    desk = Desk()
    with serving(lambda asked: asked.wait()) as peer, passing(origin(peer.url), desk, SLOW) as url:
        reply = talk(url, sent)
    assert expected == int(reply.split()[1])
    assert b"x-conformance-proxy: error" in reply.lower()
    assert words in reply
    assert 0 == desk.held


@pytest.mark.slow
def test_a_client_that_does_not_read_is_disconnected_and_one_that_waits_is_not() -> None:
    def answer(asked: Asked) -> None:
        asked.wait(1)
        asked.reply(b"x" * (30_000_000 if b"GET /v1/large" in asked.head else 10))

    with serving(answer) as peer, passing(origin(peer.url), bounds=SLOW) as url, connect(url) as idle:
        idle.sendall(b"GET /v1/large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert talk(url, GET).endswith(b"x" * 10)
        time.sleep(1)
        got = 0
        with contextlib.suppress(ConnectionResetError):
            while piece := idle.recv(1_000_000):
                got += len(piece)
    assert got < 30_000_000


def test_a_head_may_take_ten_seconds() -> None:
    assert [10, 10] == [each.head_seconds for each in (DEFAULT_BOUNDS, CLIENTS)]
