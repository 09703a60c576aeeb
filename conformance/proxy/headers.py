"""Which headers end at a proxy, and which it passes.

Source: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 (read 2026-11-22).
"""

from collections.abc import Iterable
from typing import Final

from multidict import CIMultiDict, CIMultiDictProxy, istr

_OF_CONNECTION: Final = frozenset(
    {
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer",
        "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""Headers about one connection, not about the message."""

_OF_REQUEST: Final = frozenset({"host", "expect"})
"""Headers of a request that the proxy answers or replaces itself."""

NOT_ADDED: Final = tuple([istr(name) for name in ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")])
"""Headers that the HTTP client must not add to a request which lacks them."""


def of_request(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """Return the headers of a request that the provider gets."""
    return _passed(headers, _OF_CONNECTION | _OF_REQUEST)


def of_reply(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """Return the headers of a reply that the client gets."""
    return _passed(headers, _OF_CONNECTION)


def _passed(headers: CIMultiDictProxy[str], without: Iterable[str]) -> CIMultiDict[str]:
    found = CIMultiDict(headers)
    for name in (*without, *_named(headers)) if "connection" in headers else without:
        if name in found:
            del found[name]
    return found


def _named(headers: CIMultiDictProxy[str]) -> Iterable[str]:
    """Yield the names that a Connection header lists."""
    for value in headers.getall("connection"):
        yield from (name.strip() for name in value.split(",") if name.strip())
