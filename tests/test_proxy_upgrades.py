"""What lies beyond a request and its reply: WebSockets, which pass as bytes, and the trailers of chunked bodies."""

import asyncio
import json
import random
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

import aiohttp
import pytest
from aiohttp import web

from conformance.proxy.passing import TRAILERS, WEBSOCKET
from conformance.proxy.receiving import MAX_TRAILERS, Ending
from tests.hostile.peer import Asked, serving
from tests.proxies import Desk, connect, passing, talk

T = TypeVar("T")

HANDSHAKE = (
    "GET /v1/realtime?model=m HTTP/1.1",
    "Host: localhost",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.sk-x",
    "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits, x-own",
    "Authorization: Bearer k",
)
AGREED = (
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
    "Sec-WebSocket-Protocol: realtime",
    "Sec-WebSocket-Extensions: x-own",
)


def lines(*each: str) -> bytes:
    return "\r\n".join([*each, "", ""]).encode()


def origin(url: str) -> str:
    return url.removesuffix("/v1")


def read_head(connection: socket.socket) -> bytes:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        piece = connection.recv(1)
        assert piece
        head += piece
    return head


def read_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


def named(head: bytes) -> set[str]:
    """Return the lines of a head but the first, with the names of headers in lower case."""
    found = [line.partition(":") for line in head.decode().split("\r\n")[1:] if line]
    return {f"{name.lower()}:{value}" for name, _, value in found}


def test_the_handshake_passes_in_both_directions_with_all_its_headers() -> None:
    heads: list[bytes] = []

    def answer(asked: Asked) -> None:
        heads.append(asked.head)
        asked.send(lines(*AGREED))

    with serving(answer) as peer, passing(origin(peer.url)) as url:
        reply = talk(url, lines(*HANDSHAKE))
    sent = named(heads[0])
    assert b"GET /v1/realtime?model=m HTTP/1.1" == heads[0].split(b"\r\n")[0]
    assert named(lines(*HANDSHAKE)) - {"host: localhost"} == {each for each in sent if not each.startswith("host:")}
    assert AGREED[0].encode() == reply.split(b"\r\n")[0]
    assert named(lines(*AGREED)) == named(reply)


@pytest.mark.parametrize("early", [True, False], ids=["with the handshake", "after it"])
def test_bytes_pass_unchanged_in_both_directions_until_both_have_ended(early: bool) -> None:  # noqa: FBT001 — a parameter
    up, down = (random.Random(seed).randbytes(2_000_000) for seed in (1, 2))  # noqa: S311 — no secret
    got: list[bytes] = []

    def answer(asked: Asked) -> None:
        if early:
            asked.send(lines(*AGREED) + down)
        else:
            asked.send(lines(*AGREED))
        sending = threading.Thread(target=asked.send, args=(b"" if early else down,))
        sending.start()
        pieces, left = [], len(up)
        while left:
            pieces.append(asked.socket.recv(min(left, 65536)))
            left -= len(pieces[-1])
        got.append(b"".join(pieces))
        sending.join()

    desk = Desk()
    with serving(answer) as peer, passing(origin(peer.url), desk) as url, connect(url) as connection:
        sending = threading.Thread(target=connection.sendall, args=(lines(*HANDSHAKE) + up,))
        sending.start()
        read_head(connection)
        received = read_all(connection)
        sending.join()
        copy = desk.next()
    assert (True, True) == (down == received, got == [up])
    assert (WEBSOCKET, 101, b"", b"") == (copy.lost, copy.status, copy.sent, copy.received)
    assert 0 == desk.held


@pytest.mark.slow
def test_a_client_that_reads_nothing_slows_the_provider() -> None:
    sent = [0]
    stuck = threading.Event()

    def answer(asked: Asked) -> None:
        asked.send(lines(*AGREED))
        asked.socket.settimeout(2)
        try:
            while sent[0] < 128 * 1024 * 1024:
                sent[0] += asked.socket.send(b"x" * 65536)
        except TimeoutError:
            stuck.set()

    with serving(answer) as peer, passing(origin(peer.url)) as url, connect(url) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        connection.sendall(lines(*HANDSHAKE))
        assert stuck.wait(30)
    assert 0 < sent[0] < 32 * 1024 * 1024


def test_a_client_that_leaves_ends_the_websocket_at_the_provider_after_its_last_bytes() -> None:
    last: list[bytes] = []
    gone = threading.Event()

    def answer(asked: Asked) -> None:
        asked.send(lines(*AGREED))
        asked.socket.settimeout(20)
        last.append(read_all(asked.socket))
        gone.set()

    desk = Desk()
    with serving(answer) as peer, passing(origin(peer.url), desk) as url:
        with connect(url) as connection:
            connection.sendall(lines(*HANDSHAKE))
            read_head(connection)
            connection.sendall(b"\x88\x82\x00\x00\x00\x00\x03\xe8")
        assert gone.wait(20)
        assert WEBSOCKET == desk.next().lost
    assert [b"\x88\x82\x00\x00\x00\x00\x03\xe8"] == last


def test_a_refused_handshake_is_a_reply_like_any_other_and_the_connection_goes_on() -> None:
    def answer(asked: Asked) -> str:
        asked.reply(b'{"error": {"message": "no realtime"}}', status="403 Forbidden")
        return "keep"

    with serving(answer) as peer, passing(origin(peer.url)) as url, connect(url) as connection:
        for request in (lines(*HANDSHAKE), b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            connection.sendall(request)
            assert read_head(connection).startswith(b"HTTP/1.1 403 Forbidden\r\n")
            assert b'{"error": {"message": "no realtime"}}' == connection.recv(65536)


def test_a_provider_that_switches_protocols_unasked_is_a_502() -> None:
    with serving(lambda asked: asked.send(lines(*AGREED))) as peer, passing(origin(peer.url)) as url:
        reply = talk(url, b"GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert reply.startswith(b"HTTP/1.1 502")
    assert "which the request did not ask for" in json.loads(reply.partition(b"\r\n\r\n")[2])["error"]["message"]


def test_an_upgrade_to_anything_else_is_a_plain_request() -> None:
    heads: list[bytes] = []

    def answer(asked: Asked) -> None:
        heads.append(asked.head)
        asked.reply(b"{}", "Connection: close")

    with serving(answer) as peer, passing(origin(peer.url)) as url:
        talk(url, lines("GET / HTTP/1.1", "Host: localhost", "Connection: Upgrade, close", "Upgrade: h2c"))
        talk(url, lines("POST / HTTP/1.1", "Host: localhost", "Connection: close, Upgrade", "Upgrade: websocket"))
    assert [False, False] == [b"upgrade" in head.lower() for head in heads]


def with_server(use: Callable[[str], Awaitable[T]]) -> tuple[T, T]:
    """Run a WebSocket server of aiohttp that repeats what it gets, and use it alone and through the proxy."""

    async def repeat(request: web.Request) -> web.WebSocketResponse:
        websocket = web.WebSocketResponse(protocols=("realtime",))
        await websocket.prepare(request)
        async for message in websocket:
            await (websocket.send_str if message.type is aiohttp.WSMsgType.TEXT else websocket.send_bytes)(message.data)
        return websocket

    async def main() -> tuple[T, T]:
        app = web.Application()
        app.router.add_get("/v1/realtime", repeat)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        try:
            with passing(f"http://{host}:{port}") as url:
                return await use(f"http://{host}:{port}/v1/realtime"), await use(f"{url}/v1/realtime")
        finally:
            await runner.cleanup()

    return asyncio.run(main())


def test_a_real_client_and_a_real_server_talk_packed_through_the_proxy() -> None:
    async def use(url: str) -> tuple[list[object], str | None, int | None, int | None]:
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(url, protocols=("realtime",), compress=15) as websocket,
        ):
            got: list[object] = []
            for text in ("hello", "é" * 70_000):
                await websocket.send_str(text)
                got.append(await websocket.receive_str())
            await websocket.send_bytes(b"\x00\xff")
            got.append(await websocket.receive_bytes())
            await websocket.close(code=1001)
            return got, websocket.protocol, websocket.compress, websocket.close_code

    alone, through = with_server(use)
    assert (["hello", "é" * 70_000, b"\x00\xff"], "realtime", 15) == alone[:3]
    assert alone == through


TRAILED = {
    "after the last chunk": [b"5\r\nhello\r\n", b"0\r\nX-Sum: 1\r\nx-b: \xc3\xa9\r\n\r\n"],
    "byte by byte": [bytes([each]) for each in b"5\r\nhello\r\n0\r\nX-Sum: 1\r\nx-b: \xc3\xa9\r\n\r\n"],
    "with an extension of the last chunk": [b"5\r\nhello\r\n000;a=b\r\nX-Sum: 1\r\nx-b: \xc3\xa9\r\n\r\n"],
    "all at once": [b"5;a=b\r\nhello\r\n0\r\nX-Sum: 1\r\nx-b: \xc3\xa9\r\n\r\n"],
}
ENDING = b"0\r\nX-Sum: 1\r\nx-b: \xc3\xa9\r\n\r\n"
GET = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def replied(parts: list[bytes], request: bytes = GET, head: tuple[str, ...] = ()) -> tuple[bytes, bool]:
    """Return the reply that the proxy passes, and whether its copy says that trailers are missing."""

    def answer(asked: Asked) -> None:
        asked.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        asked.start_stream(*head)
        for part in parts:
            asked.send(part)

    desk = Desk()
    with serving(answer) as peer, passing(origin(peer.url), desk) as url:
        reply = talk(url, request)
        return reply, TRAILERS in desk.next().missing


@pytest.mark.parametrize("name", TRAILED)
def test_trailers_of_a_reply_pass(name: str) -> None:
    reply, missing = replied(TRAILED[name], head=("Trailer: X-Sum, x-b",))
    assert (True, False) == (reply.endswith(b"o\r\n" + ENDING), missing)
    assert b"\r\nTrailer: X-Sum, x-b\r\n" in reply


def test_a_body_that_looks_like_its_end_has_no_trailers() -> None:
    body = b"\r\n0\r\nX-Fake: 1\r\n\r\n"
    reply, missing = replied([b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)])
    assert (True, False) == (reply.endswith(body + b"\r\n0\r\n\r\n"), missing)


LOST = {
    "about the connection": (b"Keep-Alive: 3\r\nTrailer: X-Sum\r\nX-Sum: 1\r\n", b"X-Sum: 1\r\n"),
    "too long": (b"X-Sum: %b\r\n" % (b"1" * MAX_TRAILERS), b""),
}


@pytest.mark.parametrize("name", LOST)
def test_trailers_that_do_not_pass_are_counted(name: str) -> None:
    given, passed = LOST[name]
    reply, missing = replied([b"5\r\nhello\r\n0\r\n" + given + b"\r\n"])
    assert (True, True) == (reply.endswith(b"hello\r\n0\r\n" + passed + b"\r\n"), missing)


def test_a_client_that_can_have_no_trailers_gets_none_and_they_are_counted() -> None:
    reply, missing = replied([b"5\r\nhello\r\n" + ENDING], b"GET / HTTP/1.0\r\n\r\n")
    assert (True, True) == (reply.endswith(b"\r\n\r\nhello"), missing)


def test_trailers_of_a_request_do_not_pass_and_are_counted() -> None:
    heads: list[bytes] = []

    def answer(asked: Asked) -> None:
        heads.append(asked.head)
        asked.reply(b"{}", "Connection: close")

    desk = Desk()
    head = lines(
        "POST / HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked", "Trailer: X-Sum", "Connection: close"
    )
    with serving(answer) as peer, passing(origin(peer.url), desk) as url:
        talk(url, head + b"2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n")
        assert (TRAILERS,) == desk.next().missing
    assert b"x-sum" not in heads[0].lower()


def test_a_client_that_takes_trailers_says_so_to_the_provider() -> None:
    heads: list[bytes] = []

    def answer(asked: Asked) -> None:
        heads.append(asked.head)
        asked.reply(b"{}", "Connection: close")

    with serving(answer) as peer, passing(origin(peer.url)) as url:
        talk(url, lines("GET / HTTP/1.1", "Host: localhost", "TE: trailers, deflate;q=0.5", "Connection: TE, close"))
    assert {"te: trailers", "connection: TE"} < named(heads[0])


def test_the_ending_of_a_reply_is_bounded() -> None:
    ending = Ending()
    for _ in range(100):
        ending.add(b"x" * 3_000)
    ending.add(b"\r\n0\r\na: b\r\n\r\n")
    assert ((b"a: b",), False) == ending.trailers()
