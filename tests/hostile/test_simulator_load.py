"""The simulator under load: a thousand streams at once, and peers that are slow, half-closed, impatient or too big."""

import asyncio
import json
import logging
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx
import psutil
import pytest

from conformance import profiles
from conformance.simulator import Simulator, remembering, simulated
from conformance.transport.http import HttpReply, HttpRequest, PeerBounds
from conformance.transport.server import serving
from tests.checking import ENVIRONMENT
from tests.sampling import some

PATH = "/v1/chat/completions"
STREAMS = 1000
FEW = 40
MAX_MEMORY = 300 * 1024 * 1024
"""Bytes that the server may hold with a thousand streams, as the operating system counts them."""

TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
}
PROMPTS = ("Hello", "What is the weather in Paris?", "Write a poem", "1", "")
CALM = PeerBounds(linger_seconds=0.3, body_bytes=1024)
IMPATIENT = replace(CALM, head_seconds=0.3, body_seconds=0.3, reply_seconds=0.3)


def request(prompt: str, *, stream: bool = True, close: bool = True) -> bytes:
    """Return the bytes of a request."""
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}], "tools": [TOOL], "stream": stream}
    content = json.dumps(body).encode()
    head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"{'Connection: close' if close else 'X: y'}\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


def connect(url: str) -> socket.socket:
    host, _, port = url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=20)


def received(connection: socket.socket) -> bytes:
    """Return all bytes until the server closes the connection."""
    pieces = []
    while piece := connection.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)


def status(reply: bytes) -> int:
    return int(reply.split()[1])


async def fetched(port: int, prompt: str) -> bytes:
    """Return the body of a reply, with its framing."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request(prompt))
    reply = await reader.read()
    writer.close()
    return reply.partition(b"\r\n\r\n")[2]


@pytest.fixture(scope="module")
def process() -> Iterator[tuple[int, psutil.Process]]:
    """Run `conformance serve` and yield its port and its process."""
    command = [sys.executable, "-m", "conformance", "serve", "--provider", "deepseek", "--port", "0"]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        yield int(served.stdout.readline().rpartition(":")[2]), psutil.Process(served.pid)
        served.terminate()


@pytest.mark.parametrize("streams", some([FEW, STREAMS]))
def test_each_of_many_concurrent_streams_equals_a_sequential_one(
    streams: int, process: tuple[int, psutil.Process]
) -> None:
    port, server = process

    async def play() -> tuple[dict[str, bytes], list[bytes]]:
        alone = {prompt: await fetched(port, prompt) for prompt in PROMPTS}
        together = [fetched(port, PROMPTS[number % len(PROMPTS)]) for number in range(streams)]
        return alone, await asyncio.gather(*together)

    alone, together = asyncio.run(play())
    assert len(PROMPTS) == len(set(alone.values()))
    assert all(reply.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n") for reply in alone.values())
    assert [alone[PROMPTS[number % len(PROMPTS)]] for number in range(streams)] == together
    assert server.memory_info().rss < MAX_MEMORY


@pytest.mark.parametrize("connections", some([FEW, STREAMS]))
def test_idle_connections_keep_nobody_from_an_answer(connections: int, process: tuple[int, psutil.Process]) -> None:
    port, server = process
    idle = [connect(f"http://127.0.0.1:{port}") for _ in range(connections)]
    try:
        assert 200 == httpx.get(f"http://127.0.0.1:{port}/v1/models").status_code
        assert server.memory_info().rss < MAX_MEMORY
    finally:
        for connection in idle:
            connection.close()


@pytest.fixture
def url() -> Iterator[str]:
    with serving(Simulator(profiles.load("deepseek")).answer, bounds=CALM) as url:
        yield url


def test_a_half_closed_peer_gets_its_replies(url: str) -> None:
    with connect(url) as connection:
        connection.sendall(request("Hello", close=False) + request("Hello", close=False))
        connection.shutdown(socket.SHUT_WR)
        assert 2 == received(connection).count(b"HTTP/1.1 200 OK")


def test_a_half_closed_peer_that_sends_nothing_is_disconnected(url: str) -> None:
    with connect(url) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert b"" == received(connection)


def test_pipelined_requests_are_answered_in_their_order() -> None:
    sent = "".join([f"GET /{number} HTTP/1.1\r\nHost: localhost\r\n\r\n" for number in range(200)]).encode()
    with serving(lambda asked: HttpReply(200, f"<{asked.path}>".encode())) as url, connect(url) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        replies = received(connection)
    assert [f"</{number}>" for number in range(200)] == re.findall("<.*?>", replies.decode())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "expected", "words"),
    [
        (b"POST / HTTP/1.1\r\nHost: loc", 408, b"the head of a request within 0.3 seconds"),
        (request("Hello")[:-1], 408, b"the whole body within 0.3 seconds"),
        (request("Hello", close=False) + request("Hello")[:-1], 200, b"the whole body within 0.3 seconds"),
        (request("Hello" * 1000), 413, b"at most 1024 bytes"),
        (request("Hello")[:20] + b"\x00" + request("Hello")[20:], 400, b"cannot be read"),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 1000 + b"\r\n", 400, b"cannot be read"),
        (b"GET / HTTP/1.1\r\na: " + b"b" * 100_000 + b"\r\n\r\n", 431, b"cannot be read"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, b"cannot be read"),
    ],
)  # fmt: skip
def test_a_slow_or_unreadable_request_ends_with_an_error_and_a_line_in_the_log(
    caplog: pytest.LogCaptureFixture, sent: bytes, expected: int, words: bytes
) -> None:
    bounds = IMPATIENT if b"within" in words else CALM
    answer = Simulator(profiles.load("deepseek")).answer
    with serving(answer, bounds=bounds) as url, connect(url) as connection:
        connection.sendall(sent)
        reply = received(connection)
    assert expected == status(reply)
    assert words in reply
    assert [logging.WARNING] == [record.levelno for record in caplog.records if record.name == "conformance.server"]
    assert "Hello" not in caplog.text


def test_an_oversized_chunked_body_is_refused_while_it_comes(url: str) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    with connect(url) as connection:
        connection.sendall(head + b"400\r\n" + b" " * 1024 + b"\r\n400\r\n")
        connection.sendall(b" " * 1024 + b"\r\n")
        assert 413 == status(received(connection))


def test_a_body_is_asked_for_with_status_100_and_refused_before_it_is_sent(url: str) -> None:
    start = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\n"
    with connect(url) as connection:
        connection.sendall(f"{start}Content-Length: 2\r\n\r\n".encode())
        assert b"HTTP/1.1 100 Continue\r\n\r\n" == connection.recv(100)
        connection.sendall(b"[]")
        assert 400 == status(received(connection))
    with connect(url) as connection:
        connection.sendall(f"{start}Content-Length: 2000\r\n\r\n".encode())
        assert 413 == status(received(connection))


@pytest.mark.parametrize("chunks", [1, 1000])
def test_a_reply_that_is_not_read_is_dropped_and_logged(caplog: pytest.LogCaptureFixture, chunks: int) -> None:
    size = 16 * 1024 * 1024
    body = b"x" * size if chunks == 1 else (b"x" * (size // chunks),) * chunks

    def answer(asked: HttpRequest) -> HttpReply:
        return HttpReply(200, body if asked.path == "/" else b"ok")

    with serving(answer, bounds=IMPATIENT) as url, connect(url) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_for(lambda: "disconnected: the reply was not read within 0.3 seconds" in caplog.text)
        assert len(dropped(connection)) < size
        assert 200 == httpx.get(f"{url}/small").status_code


def test_an_idle_connection_is_closed_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    bounds = PeerBounds(idle_seconds=0.3)
    with serving(lambda _: HttpReply(200, b"ok"), bounds=bounds) as url, connect(url) as silent, connect(url) as used:
        used.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"" == received(silent)
        assert 200 == status(received(used))
    assert "" == caplog.text


def test_connections_beyond_the_bound_are_dropped(caplog: pytest.LogCaptureFixture) -> None:
    with serving(lambda _: HttpReply(200, b"ok"), bounds=PeerBounds(connections=2)) as url:
        with connect(url), connect(url), connect(url) as third:
            assert b"" == dropped(third)
        wait_for(lambda: caplog.text.count("dropped: there are 2 already") == 1)
        wait_for(lambda: answers(url))


def test_a_client_that_goes_away_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    released = threading.Event()

    def answer(_: HttpRequest) -> HttpReply:
        released.wait(20)
        return HttpReply(200, (b"x" * 100_000,) * 100)

    with serving(answer) as url:
        connection = connect(url)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.close()
        released.set()
        assert 200 == httpx.get(url).status_code
    assert "" == caplog.text


@pytest.mark.parametrize("error", [KeyError, TimeoutError])
def test_an_answer_that_raises_is_logged_and_costs_only_its_request(
    caplog: pytest.LogCaptureFixture, error: type[Exception]
) -> None:
    def answer(received: HttpRequest) -> HttpReply:
        if received.path == "/x":
            raise error("it broke")
        return HttpReply(200, b"ok")

    with serving(answer) as url:
        assert 500 == httpx.get(f"{url}/x").status_code
        assert 200 == httpx.get(url).status_code
    assert f"{error.__name__}: " in caplog.text


def test_an_answer_that_loses_its_connection_cuts_that_of_the_client() -> None:
    def answer(received: HttpRequest) -> HttpReply:
        if received.path == "/x":
            raise ConnectionResetError
        return HttpReply(200, b"ok")

    with serving(answer) as url:
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{url}/x")
        assert 200 == httpx.get(url).status_code


@pytest.mark.slow
def test_line_ends_between_requests_are_no_request(caplog: pytest.LogCaptureFixture) -> None:
    with serving(lambda _: HttpReply(200, b"ok"), bounds=IMPATIENT) as url, connect(url) as connection:
        for _ in range(2):
            connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}\r\n")
            assert 200 == status(connection.recv(1000))
            time.sleep(0.6)
    assert "" == caplog.text


def test_a_big_body_does_not_hold_up_other_requests() -> None:
    released = threading.Event()

    def answer(received: HttpRequest) -> HttpReply:
        if received.body:
            released.wait(20)
        return HttpReply(200, b"ok")

    with serving(answer) as url, connect(url) as connection:
        connection.sendall(
            f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{'x' * 100000}".encode()
        )
        assert 200 == httpx.get(url).status_code
        released.set()


@pytest.mark.slow
def test_big_bodies_wait_for_each_other_and_small_ones_for_nobody(caplog: pytest.LogCaptureFixture) -> None:
    stalled = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    bounds = PeerBounds(big_bodies=2, body_seconds=1)
    with serving(lambda asked: HttpReply(200, asked.body), bounds=bounds) as url, connect(url) as first:
        with connect(url) as second, connect(url) as third:
            for connection in (first, second):
                connection.sendall(stalled)
            wait_for(lambda: 200 == httpx.post(url, content=b"small").status_code)
            third.sendall(stalled + b"1\r\nx\r\n0\r\n\r\n")
            assert {b"408"} == {received(connection).split()[1] for connection in (first, second)}
            assert status(third.recv(100)) in (200, 429)
        assert b"x" * 100_000 == httpx.post(url, content=b"x" * 100_000).content
    assert "whole body within 1 seconds" in caplog.text


def test_a_client_that_goes_away_while_it_sends_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    with serving(lambda asked: HttpReply(200, asked.body)) as url:
        for size in (b"100", b"1000000"):
            with connect(url) as connection:
                connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + size + b"\r\n\r\nx")
                # It resets the connection, which says nothing of what was sent last.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert b"x" * 100_000 == httpx.post(url, content=b"x" * 100_000).content
    assert "" == caplog.text


@pytest.mark.slow
def test_a_simulator_remembers_only_what_its_answers_depend_on() -> None:
    read = set()

    class Headers(dict[str, str]):
        def get(self, name: str, default: Any = None) -> Any:
            read.add(name)
            return super().get(name, default)

        __getitem__ = get

    simulator = Simulator(profiles.load("deepseek"))
    body = request("Hello").partition(b"\r\n\r\n")[2]
    for method, path in (("POST", PATH), ("GET", "/v1/models"), ("OPTIONS", "*"), ("POST", "/s/parallel-calls" + PATH)):
        asked = HttpRequest(method, path, Headers({"content-type": "application/json"}), body)
        assert simulator.answer(asked) == remembering(simulator)(asked)
    assert {"content-type"} == read


@pytest.mark.slow
def test_a_server_stops_with_connections_of_every_kind() -> None:
    with simulated(profiles.load("deepseek")) as url:
        opened = [connect(url) for _ in range(4)]
        opened[1].sendall(b"GET")
        opened[2].sendall(request("Hello")[:-1])
        opened[3].sendall(request("Hello", close=False))
        opened[3].recv(10)
    for connection in opened:
        dropped(connection)
        connection.close()
    assert "conformance-server" not in {thread.name for thread in threading.enumerate()}


def answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False


def dropped(connection: socket.socket) -> bytes:
    """Return what comes before the server closes or resets the connection."""
    pieces = []
    try:
        while piece := connection.recv(65536):
            pieces.append(piece)
    except ConnectionResetError:
        """The server dropped what it had not sent."""
    return b"".join(pieces)


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds; only a hang makes it fail."""
    due = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < due
        time.sleep(0.01)
