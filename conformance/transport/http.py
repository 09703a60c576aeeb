"""Requests and replies over HTTP as a server sees them, and which hosts are this machine."""

import ipaddress
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

MAX_BODY = 16 * 1024 * 1024
"""The largest request body in bytes; a larger one gets status 413."""

_HOST: Final = re.compile(r"(\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[^\[\]:/@\s]+))(:\d{1,5})?")
# An empty host binds all addresses too.
_ALL_ADDRESSES: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 — compared with, not bound


Headers: TypeAlias = Sequence[tuple[str, str]]
"""Headers in their order; a name may come several times."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A received request: method, path with query, headers by names in any case, and the bytes of the body."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A reply to send: one bytes value with its length, or several as a chunked stream.

    `paced`: gives the parts of a stream when they are due, in place of the body, which then is all of them.
    """

    status: int
    body: bytes | Sequence[bytes]
    headers: Mapping[str, str] = field(default_factory=dict)
    paced: Callable[[], AsyncGenerator[bytes, None]] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PeerBounds:
    """What a peer can take: seconds for the head and the body of a request, to read a reply, and between requests.

    The rest of a refused body is read and dropped for `linger_seconds`, so that the client sees the reply and no reset.
    Of `big_bodies`, so many are read and answered at once; the others wait. Beyond `connections`, new ones are dropped.
    """

    head_seconds: float = 10.0
    body_seconds: float = 60.0
    reply_seconds: float = 60.0
    idle_seconds: float = 60.0
    linger_seconds: float = 2.0
    body_bytes: int = MAX_BODY
    big_bodies: int = 4
    connections: int = 2048


DEFAULT_BOUNDS: Final = PeerBounds()


def error_reply(status: int, message: str) -> HttpReply:
    """Return an error of the server itself, in OpenAI's shape."""
    return HttpReply(status, error_body(message), {"content-type": "application/json"})


def error_body(message: str) -> bytes:
    """Return the body of such an error."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return json.dumps({"error": error}).encode()


def is_origin_served(origin: str, host: str) -> bool:
    """Return True if an Origin header names a page of this machine, or of the host that the request is addressed to.

    The pages of other sites that a browser shows could use the server otherwise. `host` is the checked Host header.
    """
    scheme, _, page = origin.strip().lower().partition("://")
    if scheme not in ("http", "https") or not _named(page):
        return False
    return is_host_served(page, "localhost") or _named(page) == _named(host)


@lru_cache(maxsize=128)
def is_host_served(header: str, bound_host: str) -> bool:
    """Return True if a Host header names this machine: by a loopback name or address, or as the server was bound.

    A server that is bound to all addresses can have any address and any name that is not public.
    """
    host = _named(header)
    if not host:
        return False
    if host in {"localhost", bound_host.lower()} or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bound_host in _ALL_ADDRESSES and ("." not in host or host.endswith(".internal"))
    return address.is_loopback or bound_host in _ALL_ADDRESSES


def _named(header: str) -> str:
    """Return the name or address in a Host header, without its port; empty if it has none."""
    found = _HOST.fullmatch(header.strip().lower())
    return "" if found is None else (found["v6"] or found["name"]).rstrip(".")


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach a server that is bound to this host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
