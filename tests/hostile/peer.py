"""A hostile peer on loopback: a raw socket that answers each request as a test wants, however broken.

`serving(answer)` yields its base URL. An answer gets the connection after one request has been read, and writes what it
likes; the connection is closed when it returns, unless it returns KEEP.
"""

import contextlib
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import orjson

from conformance import profiles
from conformance.simulator import Simulator
from tests.forks import WITHOUT

KEEP: Final = "keep"
"""What an answer returns to read the next request on the same connection."""

COMPLETION: Final = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1767225600,
    "model": "m",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop", "logprobs": None}
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


@dataclass(slots=True)
class Asked:
    """One connection to the peer with the request that was read from it; `number` counts the requests from 1."""

    socket: socket.socket
    number: int
    head: bytes
    body: bytes
    stopped: threading.Event

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def reply(self, body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> None:
        """Send a reply; `length` is what it claims its body to have."""
        claimed = len(body) if length is None else length
        lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {claimed}", *headers]
        self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)

    def start_stream(self, *headers: str) -> None:
        """Send the head of an event stream in chunks."""
        lines = ["HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked", *headers]
        self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")

    def chunk(self, data: bytes) -> None:
        self.send(b"%x\r\n%b\r\n" % (len(data), data))

    def reset(self) -> None:
        """Close the connection with a reset instead of an end."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the test has ended, or for some seconds."""
        self.stopped.wait(seconds)


HIDDEN: Final = ("PYTEST_", "CONFORMANCE_")
"""How the names of environment variables begin that a run must not inherit."""

Answer: TypeAlias = Callable[[Asked], "str | None"]


@dataclass(slots=True)
class Peer:
    """A listening peer: where it is, and how many requests it has read."""

    url: str
    stopped: threading.Event = field(default_factory=threading.Event)
    requests: int = 0
    connections: list[socket.socket] = field(default_factory=list)


def conforming(provider: str) -> Answer:
    """Return an answer as the simulator of a provider gives it, without the header that names it."""
    simulator = Simulator(profiles.load(provider))

    def answer(asked: Asked) -> None:
        reply = simulator.reply(orjson.loads(asked.body))
        content = reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)
        lines = [f"HTTP/1.1 {reply.status} X", f"Content-Length: {len(content)}"]
        lines.append(f"Content-Type: {reply.headers['content-type']}")
        asked.send("\r\n".join(lines).encode() + b"\r\n\r\n" + content)

    return answer


def completion() -> bytes:
    """Return a good reply."""
    return orjson.dumps(COMPLETION)


@contextmanager
def serving(answer: Answer) -> Iterator[Peer]:
    """Answer every request on a free port of loopback until the block ends."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    peer = Peer(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
    accepting = threading.Thread(target=_accept, args=(listener, peer, answer), daemon=True)
    accepting.start()
    try:
        yield peer
    finally:
        peer.stopped.set()
        for each in (listener, *peer.connections):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        accepting.join()


def _accept(listener: socket.socket, peer: Peer, answer: Answer) -> None:
    while not peer.stopped.is_set():
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        peer.connections.append(connection)
        threading.Thread(target=_talk, args=(connection, peer, answer), daemon=True).start()


def _talk(connection: socket.socket, peer: Peer, answer: Answer) -> None:
    with contextlib.suppress(OSError), connection:
        again: str | None = KEEP
        while again == KEEP and (request := _read(connection)) is not None:
            peer.requests += 1
            again = answer(Asked(connection, peer.requests, *request, peer.stopped))
        # A close with unread data would be a reset.
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_WR)


def _read(connection: socket.socket) -> tuple[bytes, bytes] | None:
    data = b""
    while b"\r\n\r\n" not in data:
        if not (more := connection.recv(65536)):
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
    )
    while len(body) < length:
        if not (more := connection.recv(65536)):
            return None
        body += more
    return head, body


def start(peer: Peer, folder: Path, *options: str, output: int = subprocess.PIPE) -> subprocess.Popen[str]:
    """Start a run of the suites against a peer, in a process of its own; its results go to `out`."""
    shown = {name: value for name, value in os.environ.items() if not name.startswith(HIDDEN)}
    command = [sys.executable, "-m", "pytest", *WITHOUT, "-p", "no:cacheprovider", "--results=out", "--provider=openai"]
    return subprocess.Popen(
        [*command, f"--base-url={peer.url}", *options],
        cwd=folder,
        env=shown,
        stdout=output,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Return exit code and output of a run, which shows no traceback."""
    with process:
        text, _ = process.communicate()
    assert "Traceback (most" not in text
    assert "INTERNALERROR" not in text
    return process.returncode, text
