"""A threaded HTTP server on loopback that passes every request to one function.

It uses the standard library, since frameworks cannot send broken framing and cut streams.
"""

import ipaddress
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from conformance.errors import Unusable

MAX_BODY = 16 * 1024 * 1024
"""The largest request body in bytes; a larger one gets status 413."""

SOCKET_SECONDS = 60.0
_CHUNK_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(;[^\r\n]*)?\r?\n")
_MAX_LINE: Final = 8192
_HOST: Final = re.compile(r"(\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[^\[\]:/@\s]+))(:\d{1,5})?")
_ALL_ADDRESSES: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 — compared with, not bound


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


class _Unreadable(Exception):
    """A request that is refused before it is answered."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], answer: Callable[[HttpRequest], HttpReply]) -> None:
        self.answer, self.bound_host = answer, address[0]
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
        try:
            self._check_host()
            body = self._read_body()
        except _Unreadable as error:
            self.close_connection = True
            self._send(error_reply(error.status, error.message))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.answer(HttpRequest(self.command, self.path, headers, body)))

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _handle  # noqa: N815 — the base's names

    def _check_host(self) -> None:
        """Refuse a page of another site whose name resolves to this machine (DNS rebinding)."""
        hosts = self.headers.get_all("host", [])
        if len(hosts) != 1 and self.request_version != "HTTP/1.0":
            raise _Unreadable(400, f"expected one Host header, got {len(hosts)}")
        for host in hosts:
            if not is_host_served(host, self.server.bound_host):
                text = f"expected a loopback name or the host that this server is bound to as Host, got {host!r:.80}"
                raise _Unreadable(421, text)

    def _read_body(self) -> bytes:
        """Return the body of the request."""
        lengths = self.headers.get_all("content-length", [])
        codings = [value.strip().lower() for value in self.headers.get_all("transfer-encoding", [])]
        if codings:
            if codings != ["chunked"] or lengths:
                raise _Unreadable(400, "expected Transfer-Encoding: chunked alone, or Content-Length")
            return self._read_chunks()
        if not lengths and self.command in {"POST", "PUT", "PATCH"}:
            raise _Unreadable(411, "expected a Content-Length header, got none")
        length = lengths[0].strip() if lengths else "0"
        if len(set(lengths)) > 1 or not (length.isascii() and length.isdecimal()):
            raise _Unreadable(400, f"expected one Content-Length header with a number, got {lengths!r:.80}")
        if len(length) > len(str(MAX_BODY)) or int(length) > MAX_BODY:
            raise _Unreadable(413, f"expected a body of at most {MAX_BODY} bytes, got {length:.30}")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise _Unreadable(400, f"expected a body of {length} bytes, got {len(body)}")
        return body

    def _read_chunks(self) -> bytes:
        """Return a chunked body."""
        body = b""
        while True:
            size = _CHUNK_SIZE.fullmatch(self.rfile.readline(_MAX_LINE))
            if size is None:
                raise _Unreadable(400, "expected the size of a chunk in hexadecimal digits")
            if len(body) + int(size[1], 16) > MAX_BODY:
                raise _Unreadable(413, f"expected a body of at most {MAX_BODY} bytes, got more")
            if not int(size[1], 16):
                break
            body += self.rfile.read(int(size[1], 16))
            if self.rfile.readline(3) not in {b"\r\n", b"\n"}:
                raise _Unreadable(400, "expected the end of a chunk")
        while self.rfile.readline(_MAX_LINE).strip():
            """Trailers are skipped."""
        return body

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send an error for what the base class cannot read, in JSON."""
        # A request line that cannot be read leaves these unset.
        self.request_version, self.command = "HTTP/1.1", self.command or ""
        self.close_connection = True
        self._send(error_reply(code, message or explain or "the request cannot be read"))

    def _send(self, reply: HttpReply) -> None:
        self.send_response_only(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("connection", "close")
        if isinstance(reply.body, bytes):
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else reply.body)
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


def error_reply(status: int, message: str) -> HttpReply:
    """Return an error of the server itself, in OpenAI's shape."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return HttpReply(status, json.dumps({"error": error}).encode(), {"content-type": "application/json"})


def is_host_served(header: str, bound_host: str) -> bool:
    """Return True if a Host header names this machine: by a loopback name or address, or as the server was bound.

    A server that is bound to all addresses can have any address and any name that is not public.
    """
    name = _HOST.fullmatch(header.strip().lower())
    if name is None:
        return False
    host = (name["v6"] or name["name"]).rstrip(".")
    if host in {"localhost", bound_host.lower()} or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bound_host in _ALL_ADDRESSES and ("." not in host or host.endswith(".internal"))
    return address.is_loopback or bound_host in _ALL_ADDRESSES


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
