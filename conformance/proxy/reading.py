"""Copies read as what rules judge: the one place that decides which exchanges are checked, and as what."""

from dataclasses import dataclass
from typing import Any, Final

from conformance import wires
from conformance.documents import GrowingTexts
from conformance.errors import InvalidDocument
from conformance.formats.compression import unpack_body
from conformance.formats.interactions import Interaction, conversation
from conformance.formats.records import date_of
from conformance.proxy.copies import Copy
from conformance.secrets.urls import shown_url
from conformance.wire.exchange import CUT, Exchange
from conformance.wires import other_api

_KIND: Final = "cassette"


@dataclass(frozen=True, slots=True)
class ReadCopy:
    """A copy as it was read: an exchange, or why there is none to check; and both bodies, unpacked.

    `asked`: the request as an object; None if it is none.
    """

    exchange: Exchange | None = None
    reason: str = ""
    sent: bytes = b""
    content: bytes = b""
    asked: dict[str, Any] | None = None


def read(copy: Copy, texts: GrowingTexts) -> ReadCopy:
    """Return the exchange of a copy: a chat completion as `conformance check` reads it, or one of another wire.

    `texts`: the requests that were read last; what this one repeats of them is not read again.
    """
    if copy.lost:
        return ReadCopy(reason=copy.lost)
    headers = {name.lower(): value for name, value in copy.headers}
    try:
        content = unpack_body(copy.received, headers.get("content-encoding", ""), "the reply")
        request = unpack_body(copy.sent, dict(_lower(copy)).get("content-encoding", ""), "the request")
    except InvalidDocument as error:
        return ReadCopy(reason=str(error))
    for name in ("content-encoding", "transfer-encoding"):
        headers.pop(name, None)
    if copy.cut:
        headers[CUT] = copy.cut
    # A byte that is not UTF-8 becomes U+FFFD, as every client shows it; a rule about streams reports that.
    reply = content.decode(errors="replace")
    asked = _asked(request, texts)
    sent = request if asked is None else asked
    url = shown_url(copy.url)
    item = Interaction(copy.method, url, sent, copy.status, headers, reply, is_parsed=asked is not None)
    inputs = list(conversation([item], "the exchange", _KIND))
    found = [exchange for each in inputs for exchange in each.conversation] or _of_other_wire(item)
    if found:
        return ReadCopy(found[0], sent=request, content=content, asked=asked)
    problem = next((each.problem for each in inputs if each.problem is not None), None)
    return ReadCopy(
        reason=str(problem)
        if problem is not None
        else f"neither a chat completion nor another wire that is known: {_name(copy)}"
    )


def _asked(request: bytes, texts: GrowingTexts) -> dict[str, Any] | None:
    """Return a request that is an object; what is wrong with any other is reported where it is read as text."""
    try:
        value = texts.parse(request) if request.lstrip().startswith(b"{") else None
    except InvalidDocument:
        return None
    return value if type(value) is dict else None


def _of_other_wire(item: Interaction) -> list[Exchange]:
    """Return the exchange if it belongs to another wire that the engine translates."""
    try:
        day = date_of(item.headers.get("date")) or ""
        exchange = Exchange(item.request or None, item.reply, item.status, headers=item.headers, url=item.url, date=day)
    except (InvalidDocument, TypeError):
        return []
    return [exchange] if wires.is_native(exchange) and not other_api(exchange) else []


def _lower(copy: Copy) -> list[tuple[str, str]]:
    return [(name.lower(), value) for name, value in copy.sent_headers]


def _name(copy: Copy) -> str:
    path = shown_url(copy.url).partition("://")[2].partition("/")[2]
    return f"{copy.method} /{path}"
