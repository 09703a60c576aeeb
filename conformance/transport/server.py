"""A threaded HTTP server on loopback that passes every request to one function.

It uses the standard library, since frameworks cannot send broken framing and cut streams.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from conformance.errors import Unusable

MAX_BODY = 16 * 1024 * 1024
"""The largest request body in bytes; a larger one gets status 413."""

SOCKET_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A received request: method, path with query, headers in lower case, and the bytes of the body."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A reply to send: one bytes value with its length, or several as a chunked stream."""

    status: int
    body: bytes | Iterable[bytes]
    headers: Mapping[str, str] = field(default_factory=dict)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], answer: Callable[[HttpRequest], HttpReply]) -> None:
        self.answer = answer
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SOCKET_SECONDS
    # Head and body are written separately; with Nagle's algorithm the body would wait 40 ms for an acknowledgement.
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — the name is the base class's
        """Log nothing, since request lines may hold secrets."""

    def _handle(self) -> None:
        length = self.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self.close_connection = True
            status = 413 if length.isdecimal() else 400
            self._send(HttpReply(status, b'{"error":{"message":"the body is too long, or its length is unreadable"}}'))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.answer(HttpRequest(self.command, self.path, headers, self.rfile.read(int(length)))))

    do_GET = do_POST = _handle  # noqa: N815 — the names are the base class's

    def _send(self, reply: HttpReply) -> None:
        self.send_response_only(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if isinstance(reply.body, bytes):
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)
            return
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for chunk in reply.body:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def handle(self) -> None:
        """Serve the connection; a client that disconnects early is not an error of the server."""
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            self.close_connection = True


@contextmanager
def serving(answer: Callable[[HttpRequest], HttpReply], host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve in a background thread and yield the URL, `http://host:port`; port 0 takes a free port.

    Raises Unusable if the address cannot be bound.
    """
    try:
        server = _Server((host, port), answer)
    except OSError as error:
        message = f"cannot bind {host}:{port}: {error.strerror or error}; use another --port, or 0 for a free one"
        raise Unusable(message) from None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
