"""Exchanges as JSON records: one exchange a line, in the form of this project or as captured from SDKs."""

import re
import time
from collections.abc import Mapping
from typing import Any, Final

from conformance.documents import JSON
from conformance.errors import InvalidDocument
from conformance.formats.bodies import reply_body, request_body
from conformance.wire.exchange import Exchange, model_of
from conformance.wire.sse import render
from conformance.wire.values import is_error_list

_EARLIEST: Final = 1_500_000_000
_LATEST: Final = 4_000_000_000
_MILLISECONDS: Final = 1000
_STATUSES: Final = range(100, 600)
_ERROR: Final = 400
_HEAD: Final = 8192
# Of days that each month has; the others, and all else, are a matter for the library.
_HTTP_DATE: Final = re.compile(
    r"[A-Z][a-z]{2}, (?P<day>0[1-9]|1[0-9]|2[0-8]) (?P<month>[A-Z][a-z]{2}) (?P<year>20[0-9]{2})"
    r" (?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9] GMT"
)
_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), start=1
    )
}
_CREATED: Final = r'"created(?:_at)?":\s*([0-9]{10})\b'


def exchange(record: Mapping[str, Any], file: str, *, is_json: bool = False) -> Exchange:
    """Return the exchange of a record.

    Keys: `request`, a JSON body or its text; `response`, a JSON body, raw text, or a list of the events of a
    stream, in which an object is a chunk and a string is raw text; `status`, `stream`, `headers`, `url` or `host`,
    `model`, and as date the first of `date`, `recorded_at`, the Date header, `created_ts`, the reply's `created` and
    `commit_date`. A record with `reply` instead of `response` comes from a scripted provider, so its times are
    ignored. `is_json`: whether the record comes from a JSON text, so that its values need not be looked at. Raises
    InvalidDocument if the text of a request is not JSON.
    """
    headers = flat_headers(record.get("headers"))
    request = _request(record.get("request"), file, is_json=is_json)
    scripted = "reply" in record and "response" not in record
    recorded = record.get("reply" if scripted else "response")
    response: JSON
    if isinstance(recorded, list) and not _is_error(recorded, record):
        response, streamed = render(recorded), True
    else:
        response, streamed = reply_body(recorded, headers, file, is_json=is_json)
        streamed = streamed or (isinstance(response, str) and record.get("stream") is True)
    moments = (record.get("date"), record.get("recorded_at"), headers.get("date"), record.get("created_ts"))
    date = next(filter(None, map(date_of, moments)), "")
    if not date and not scripted:
        date = date_of_reply(response) or date_of(record.get("commit_date"))
    return Exchange.of_plain(
        request=request,
        response=response,
        status=status_of(record.get("status")),
        streamed=streamed,
        headers=headers,
        url=as_text(record.get("url")) or as_text(record.get("host")),
        model=model_of(request) or as_text(record.get("model")) or model_of(response),
        date=date,
    )


def record_of(exchange: Exchange, session: str = "") -> dict[str, Any]:
    """Return an exchange as a record that `exchange` reads; those of one conversation have the same `session`."""
    made: dict[str, Any] = {"session": session} if session else {}
    made |= {"request": exchange.request, "response": exchange.response, "status": exchange.status}
    made |= {"headers": dict(exchange.headers)} if exchange.headers else {}
    named = {"url": exchange.url, "model": exchange.model, "date": exchange.date}
    made |= {key: value for key, value in named.items() if value}
    return made | ({"stream": True} if exchange.streamed else {})


def _is_error(recorded: list[Any], record: Mapping[str, Any]) -> bool:
    """Return whether a list is the body of an error, as Google sends it, and not the events of a stream."""
    status = status_of(record.get("status"))
    if status is not None:
        return status >= _ERROR
    return not record.get("stream") and is_error_list(recorded)


def date_of_reply(body: JSON) -> str:
    """Return the ISO 8601 date on which a reply was created, according to itself; else the empty string."""
    if isinstance(body, str):
        found = re.search(_CREATED, body[:_HEAD])
        return date_of(int(found.group(1))) if found else ""
    return date_of(body.get("created", body.get("created_at"))) if isinstance(body, dict) else ""


def date_of(moment: Any) -> str:
    """Return the ISO 8601 date of an ISO or HTTP date, or of Unix time in seconds or milliseconds; else empty."""
    if isinstance(moment, (int, float)) and not isinstance(moment, bool):
        seconds = moment / _MILLISECONDS if moment > _LATEST else moment
        return time.strftime("%Y-%m-%d", time.gmtime(seconds)) if _EARLIEST < seconds < _LATEST else ""
    return _day_of_text(moment) if isinstance(moment, str) and moment else ""


def _day_of_text(moment: str) -> str:
    if re.match(r"[0-9]{4}-[01][0-9]-[0-3][0-9](?![0-9])", moment):
        return moment[:10]
    if (usual := _HTTP_DATE.fullmatch(moment)) is not None and usual["month"] in _MONTHS:
        return f"{usual['year']}-{_MONTHS[usual['month']]:02}-{usual['day']}"
    # Imported here because only recordings with other dates need it.
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(moment).date().isoformat()
    except (IndexError, OverflowError, TypeError, ValueError):
        return ""


def status_of(recorded: Any) -> int | None:
    """Return an HTTP status that was recorded as a number, as `200 OK`, or as an object with `code`; else None."""
    if isinstance(recorded, Mapping):
        recorded = recorded.get("code")
    if isinstance(recorded, str):
        recorded = int(recorded[:3]) if re.match(r"[1-5][0-9]{2}\b", recorded) else None
    return recorded if isinstance(recorded, int) and recorded in _STATUSES else None


def flat_headers(recorded: Any) -> dict[str, str]:
    """Return headers by lower-case name; they are recorded as an object, or as a list of name and value."""
    if isinstance(recorded, list):
        pairs = [(item.get("name"), item.get("value")) for item in recorded if isinstance(item, Mapping)]
    else:
        pairs = list(recorded.items()) if isinstance(recorded, Mapping) else []
    headers: dict[str, str] = {}
    for name, values in pairs:
        value = ", ".join(map(str, values)) if isinstance(values, list) else str(values)
        key = str(name).lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers


def located(error: InvalidDocument) -> str:
    """Return the message of an error in a body, with the place in that body."""
    return f"{error.message} (at {error.pointer})" if error.pointer else error.message


def as_text(value: Any) -> str:
    """Return a value if it is a string, else the empty string."""
    return value if isinstance(value, str) else ""


def as_objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects in a value if it is a list, else none."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def as_object(value: Any) -> Mapping[str, Any]:
    """Return a value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def is_validation(detail: Any) -> bool:
    """Return whether a value is the `detail` in which servers of FastAPI list what in a body is not valid."""
    return isinstance(detail, list) and bool(detail) and all("loc" in as_object(each) for each in detail)


def _request(recorded: Any, file: str, *, is_json: bool) -> JSON:
    try:
        return request_body(recorded, file, is_json=is_json)
    except InvalidDocument as error:
        raise InvalidDocument(f"invalid request body: {located(error)}", file, None, "/request") from None
