"""The suite's own client, whose requests go to a function of this process: for tests of what is in bodies.

Its cost is that of the bodies alone; sockets and HTTP take three times as long, and have tests of their own.
"""

from collections.abc import Callable
from urllib.parse import urlsplit

from conformance.transport.client import Client, Endpoint, WireRequest
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.interaction import RawInteraction
from conformance.transport.request_text import encoded
from conformance.wires import by_name

BASE_URL = "http://provider.test/v1"


class InProcess(Client):
    """Sends the requests of a wire to a function."""

    def __init__(self, answer: Callable[[HttpRequest], HttpReply], wire: str = "chat") -> None:
        super().__init__(Endpoint(BASE_URL, "key", wire=wire))
        self._reply = answer
        self._headers = {"content-type": "application/json", **by_name(wire).headers("key")}

    def answer(self, sent: WireRequest, seconds: float) -> RawInteraction:  # noqa: ARG002 — a function is not late
        body, url = encoded(sent.body), urlsplit(sent.url)
        path = f"{url.path}?{url.query}" if url.query else url.path
        reply = self._reply(HttpRequest("POST", path, dict(self._headers), body))
        content = reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)
        return RawInteraction(
            sent.url, tuple(self._headers.items()), body, reply.status, "", tuple(reply.headers.items()), content
        )
