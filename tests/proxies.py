"""What tests of the proxy share: its path in a thread of this process, the whole command, and raw connections."""

import asyncio
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from conformance.proxy.connections import BOUNDS
from conformance.proxy.copies import Copy
from conformance.proxy.passing import Passing
from conformance.proxy.running import new_session
from conformance.transport.http import PeerBounds
from tests.checking import ENVIRONMENT

KEY = "sk-proj-0123456789abcdefghijklmnop"


@dataclass
class Desk:
    """Collects copies."""

    held: int = 0
    copies: list[Copy] = field(default_factory=list)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def hand_over(self, copy: Copy) -> None:
        self.copies.append(copy)
        self.arrived.release()

    def next(self) -> Copy:
        """Wait for a further copy and return it."""
        assert self.arrived.acquire(timeout=20)
        return self.copies[-1]


@contextmanager
def passing(origin: str, desk: Desk | None = None, bounds: PeerBounds = BOUNDS) -> Iterator[str]:
    """Pass requests to an origin in a thread, and yield the URL of the proxy."""
    ready: Future[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        async with new_session() as session:
            point = Passing(desk or Desk(), 0, origin, session, "127.0.0.1", bounds=bounds)
            watch = asyncio.create_task(point.watch())
            server = await loop.create_server(point, "127.0.0.1", 0)
            ready.set_result((f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", loop, stop))
            await stop.wait()
            watch.cancel()
            server.close()
            point.pre_shutdown()
            await point.shutdown(0.2)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    url, loop, stop = ready.result(20)
    try:
        yield url
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)


def connect(url: str) -> socket.socket:
    """Return a connection to a URL."""
    host, _, port = url.removeprefix("http://").partition("/")[0].partition(":")
    return socket.create_connection((host, int(port)), timeout=20)


def talk(url: str, request: bytes) -> bytes:
    """Send bytes and return all bytes until the connection ends."""
    with connect(url) as connection:
        connection.sendall(request)
        pieces = []
        while piece := connection.recv(65536):
            pieces.append(piece)
    return b"".join(pieces)


def unchunked(body: bytes) -> tuple[bytes, bool]:
    """Return a body without its chunked framing, and whether the end mark is there."""
    data = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        if size == b"0":
            return data, True
        data += rest[: int(size, 16)]
        body = rest[int(size, 16) + 2 :]
    return data, False


def proxy(*arguments: object, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run `conformance proxy` to its end."""
    command = [sys.executable, "-m", "conformance", "proxy", *map(str, arguments)]
    shown = {name: value for name, value in ENVIRONMENT.items() if not name.endswith("_PROXY")}
    return subprocess.run(command, env={**shown, **variables}, capture_output=True, text=True, check=False, timeout=120)


@contextmanager
def running(*arguments: object) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Run `conformance proxy` without a command, and yield its base URL and its process."""
    command = [sys.executable, "-m", "conformance", "proxy", *map(str, arguments)]
    with subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)


def ended(process: "subprocess.Popen[str]", number: int = signal.SIGTERM) -> tuple[int, str, str]:
    """End the proxy and return its exit code and what it printed."""
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in out + err
    return process.returncode, out, err


def texts(*folders: Path) -> str:
    """Return the text of all files in folders."""
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return "\n".join([path.read_bytes().decode("utf-8", "replace") for path in files])


def lines(text: str, pattern: str) -> list[str]:
    """Return the lines that match a pattern."""
    return [line for line in text.splitlines() if re.search(pattern, line)]
