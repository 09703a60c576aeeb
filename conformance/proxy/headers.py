"""Which headers end at a proxy, and which it passes.

Source: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 (read 2026-11-22).
"""

from collections.abc import Iterable
from typing import Final

from multidict import CIMultiDict, CIMultiDictProxy, istr

_OF_CONNECTION: Final = frozenset(
    {
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te",
        "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""Headers about one connection, not about the message."""

_OF_REQUEST: Final = frozenset({"host", "expect", "trailer"})
"""Headers of a request that the proxy answers or replaces itself, or that announce what it does not pass."""

NOT_ADDED: Final = tuple([istr(name) for name in ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")])
"""Headers that the HTTP client must not add to a request which lacks them."""


def of_request(headers: CIMultiDictProxy[str], *, upgrades: bool = False) -> CIMultiDict[str]:
    """Return the headers of a request that the provider gets; `upgrades`: it asks for a WebSocket."""
    found = _passed(headers, _OF_CONNECTION | _OF_REQUEST)
    if upgrades:
        return _switching(found, headers)
    if any("trailers" in value.lower() for value in headers.getall("te", [])):
        found["Connection"], found["TE"] = "TE", "trailers"
    return found


def of_reply(headers: CIMultiDictProxy[str], *, upgrades: bool = False) -> CIMultiDict[str]:
    """Return the headers of a reply that the client gets; `upgrades`: a WebSocket begins with it."""
    found = _passed(headers, _OF_CONNECTION)
    return _switching(found, headers) if upgrades else found


def loses_bytes(headers: CIMultiDictProxy[str]) -> bool:
    """Return True if aiohttp leaves out bytes of the headers when it writes them: those that are not UTF-8."""
    return any(_is_damaged(value) for value in headers.values() if not value.isascii())


def _is_damaged(value: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in value)


def is_of_connection(name: bytes) -> bool:
    """Return True for the name of a header about one connection, or about the framing of a body."""
    return name.decode("latin-1").lower() in _OF_CONNECTION | {"content-length", "trailer"}


def _switching(found: CIMultiDict[str], headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    found["Connection"], found["Upgrade"] = "Upgrade", headers.get("upgrade", "websocket")
    return found


def _passed(headers: CIMultiDictProxy[str], without: Iterable[str]) -> CIMultiDict[str]:
    found = CIMultiDict(headers)
    # Few messages have a Connection header, and this runs for each of them.
    for name in (*without, *_named(headers)) if "connection" in headers else without:
        if name in found:
            del found[name]
    return found


def _named(headers: CIMultiDictProxy[str]) -> Iterable[str]:
    """Yield the names that a Connection header lists."""
    for value in headers.getall("connection"):
        yield from (name.strip() for name in value.split(",") if name.strip())
