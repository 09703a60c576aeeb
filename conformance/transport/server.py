"""A threading HTTP server on loopback that hands every request to one function.

The standard library's server is used because it can send what no framework would: broken framing, cut streams.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from conformance.errors import Unusable

MAX_BODY = 16 * 1024 * 1024
"""Bytes of a request body that are read; a longer one is answered 413."""

SOCKET_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came: method, path with its query, headers in lower case, and the body's bytes."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply to send: one piece of bytes goes with its length, several go as a chunked stream."""

    status: int
    body: bytes | Iterable[bytes]
    headers: Mapping[str, str] = field(default_factory=dict)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], answer: Callable[[Asked], Answered]) -> None:
        self.answer = answer
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SOCKET_SECONDS
    # Head and body are written apart; without this the second waits 40 ms for the first to be acknowledged.
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — the name is the base class's
        """Keep quiet: request lines may hold what a log must not."""

    def _handle(self) -> None:
        length = self.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self.close_connection = True
            status = 413 if length.isdecimal() else 400
            self._send(Answered(status, b'{"error":{"message":"the body is too long, or its length is unreadable"}}'))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.answer(Asked(self.command, self.path, headers, self.rfile.read(int(length)))))

    do_GET = do_POST = _handle  # noqa: N815 — the names are the base class's

    def _send(self, answered: Answered) -> None:
        self.send_response_only(answered.status)
        for name, value in answered.headers.items():
            self.send_header(name, value)
        if isinstance(answered.body, bytes):
            self.send_header("content-length", str(len(answered.body)))
            self.end_headers()
            self.wfile.write(answered.body)
            return
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in answered.body:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def handle(self) -> None:
        """Serve the connection; a client that goes away in the middle is no error of the server's."""
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            self.close_connection = True


@contextmanager
def serving(answer: Callable[[Asked], Answered], host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve in a background thread and yield the URL, `http://host:port`; port 0 takes a free one.

    Raises Unusable where the address cannot be had.
    """
    try:
        server = _Server((host, port), answer)
    except OSError as error:
        message = (
            f"cannot listen on {host}:{port}: {error.strerror or error}; choose another --port, or 0 for a free one"
        )
        raise Unusable(message) from None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
