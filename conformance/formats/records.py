"""Exchanges as JSON records: the project's own form, one exchange a line, and what SDKs were seen to send."""

import re
import time
from collections.abc import Mapping
from typing import Any, Final

from conformance.documents import JSON
from conformance.errors import InvalidDocument
from conformance.formats.bodies import reply_body, request_body
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.sse import render

DONE: Final = "data: [DONE]\n\n"
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EARLIEST: Final = 1_500_000_000
_LATEST: Final = 4_000_000_000
_MILLISECONDS: Final = 1000
_STATUSES: Final = range(100, 600)
_HEAD: Final = 8192
_CREATED: Final = r'"created":\s*([0-9]{10})\b'


def exchange(record: Mapping[str, Any], file: str) -> Exchange:
    """Return the exchange of a record.

    Keys: `request`, a JSON body or its text; `response`, a JSON body, raw text, or a list of the events of a
    stream, in which an object is a chunk and a string is raw text; `status`, `stream`, `headers`, `url` or `host`,
    `model`, and as date the first of `date`, `recorded_at`, the Date header, `created_ts`, the reply's `created` and
    `commit_date`. A record with `reply` instead of `response` comes from a scripted provider: its times mean nothing.
    Raises InvalidDocument where the text of a request is not JSON.
    """
    headers = flat_headers(record.get("headers"))
    request = _request(record.get("request"), file)
    scripted = "reply" in record and "response" not in record
    kept = record.get("reply" if scripted else "response")
    response: JSON
    if isinstance(kept, list):
        response, streamed = render(kept), True
    else:
        response, streamed = reply_body(kept, headers, file)
        streamed = streamed or (isinstance(response, str) and record.get("stream") is True)
    moments = (record.get("date"), record.get("recorded_at"), headers.get("date"), record.get("created_ts"))
    date = next(filter(None, map(day, moments)), "")
    if not date and not scripted:
        date = day_of_reply(response) or day(record.get("commit_date"))
    return Exchange.of_plain(
        request=request,
        response=response,
        status=status_of(record.get("status")),
        streamed=streamed,
        headers=headers,
        url=_text(record.get("url")) or _text(record.get("host")),
        model=model_of(request) or _text(record.get("model")) or model_of(response),
        date=date,
    )


def day_of_reply(body: JSON) -> str:
    """Return the day on which a reply says it was created, or the empty string."""
    if isinstance(body, str):
        found = re.search(_CREATED, body[:_HEAD])
        return day(int(found.group(1))) if found else ""
    return day(body.get("created")) if isinstance(body, dict) else ""


def day(moment: Any) -> str:
    """Return the ISO 8601 day of a moment: an ISO or HTTP date, or Unix time in seconds or milliseconds; else empty."""
    if isinstance(moment, (int, float)) and not isinstance(moment, bool):
        seconds = moment / _MILLISECONDS if moment > _LATEST else moment
        return time.strftime("%Y-%m-%d", time.gmtime(seconds)) if _EARLIEST < seconds < _LATEST else ""
    if not isinstance(moment, str):
        return ""
    if re.match(r"[0-9]{4}-[01][0-9]-[0-3][0-9](?![0-9])", moment):
        return moment[:10]
    found = re.match(r"[A-Z][a-z]{2,8}, ([0-3]?[0-9])[ -]([A-Z][a-z]{2})[ -]([0-9]{4})\b", moment)
    if found is None or found.group(2) not in _MONTHS:
        return ""
    return f"{found.group(3)}-{_MONTHS.index(found.group(2)) + 1:02}-{int(found.group(1)):02}"


def status_of(kept: Any) -> int | None:
    """Return an HTTP status that was kept as a number, as `200 OK`, or as an object with `code`; else None."""
    if isinstance(kept, Mapping):
        kept = kept.get("code")
    if isinstance(kept, str):
        kept = int(kept[:3]) if re.match(r"[1-5][0-9]{2}\b", kept) else None
    return kept if isinstance(kept, int) and kept in _STATUSES else None


def flat_headers(kept: Any) -> dict[str, str]:
    """Return headers by their names in lower case; they are kept as an object, or as a list of name and value."""
    if isinstance(kept, list):
        pairs = [(item.get("name"), item.get("value")) for item in kept if isinstance(item, Mapping)]
    else:
        pairs = list(kept.items()) if isinstance(kept, Mapping) else []
    headers: dict[str, str] = {}
    for name, values in pairs:
        value = ", ".join(map(str, values)) if isinstance(values, list) else str(values)
        key = str(name).lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers


def _request(kept: Any, file: str) -> JSON:
    try:
        return request_body(kept, file)
    except InvalidDocument as error:
        at = f" (at {error.pointer})" if error.pointer else ""
        raise InvalidDocument(f"its text is not a sound body: {error.message}{at}", file, None, "/request") from None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
