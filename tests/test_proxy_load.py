"""Many streams at once through the proxy: each client gets the bytes of its own stream, and copies are whole."""

import asyncio
import hashlib
import random
import signal
import sys
from pathlib import Path

import psutil
import pytest

from tests.proxies import Desk, ended, passing, running, unchunked

MAX_MEMORY = 400 * 1024 * 1024
"""Bytes that the proxy may hold with a thousand streams, as the operating system counts them."""


def stream_of(name: bytes) -> list[bytes]:
    """Return the chunks of the stream that a request gets: random bytes of random lengths, the same for a name."""
    drawn = random.Random(name)  # noqa: S311 — no secret
    return [drawn.randbytes(drawn.choice((1, 17, 400, 5000))) for _ in range(20)]


async def provide(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the request on a connection with the stream of its body, chunk by chunk."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length:" in line)
    name = await reader.readexactly(length)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n")
    writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
    for chunk in stream_of(name):
        writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        await writer.drain()
        await asyncio.sleep(0)
    writer.write(b"0\r\n\r\n")
    writer.close()
    await writer.wait_closed()


async def fetched(port: int, name: bytes, gate: asyncio.Semaphore) -> tuple[bytes, bool]:
    """Return the body of a stream, and whether it has its end mark."""
    async with gate:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ")
    writer.write(b"%d\r\n\r\n" % len(name) + name)
    reply = await reader.read()
    writer.close()
    await writer.wait_closed()
    return unchunked(reply.partition(b"\r\n\r\n")[2])


async def compared(port: int, count: int) -> int:
    """Return how many of so many streams at once have the right bytes."""
    names = [b"stream %d" % number for number in range(count)]
    gate = asyncio.Semaphore(100)
    got = await asyncio.gather(*[fetched(port, name, gate) for name in names])
    return sum((b"".join(stream_of(name)), True) == each for name, each in zip(names, got, strict=True))


def digests(parts: list[bytes]) -> set[str]:
    return {hashlib.sha256(part).hexdigest() for part in parts}


def test_streams_at_once_keep_their_bytes_and_so_do_their_copies() -> None:
    desk, count = Desk(), 60

    async def run() -> int:
        async with await asyncio.start_server(provide, "127.0.0.1", 0, backlog=1024) as server:
            origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            with passing(origin, desk) as url:
                return await compared(int(url.rpartition(":")[2]), count)

    assert count == asyncio.run(run())
    names = [b"stream %d" % number for number in range(count)]
    assert digests([b"".join(stream_of(name)) for name in names]) == digests([copy.received for copy in desk.copies])
    assert set(names) == {copy.sent for copy in desk.copies}
    assert 0 == desk.held


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform == "win32", reason="the process is ended by a signal")
def test_a_thousand_streams_at_once_keep_their_bytes(tmp_path: Path) -> None:
    count = 1000

    async def run() -> tuple[int, int]:
        async with await asyncio.start_server(provide, "127.0.0.1", 0, backlog=2048) as server:
            origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            with running("--upstream", origin) as (url, process):
                port = int(url.removesuffix("/v1").rpartition(":")[2])
                right = await compared(port, count)
                memory = psutil.Process(process.pid).memory_info().rss
                code, out, _ = await asyncio.to_thread(ended, process, signal.SIGTERM)
                # Random bytes are not a chat completion: each copy is counted with the reason.
                assert (5, True) == (code, "1,000 exchanges not checked" in out)
                return right, memory

    right, memory = asyncio.run(run())
    assert count == right
    assert memory < MAX_MEMORY
