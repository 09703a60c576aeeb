"""Callers' values converted to the plain JSON values that rules look at.

Rules compare types exactly. A tuple of messages or an OrderedDict becomes a list or a dict here, and anything else is
rejected: no value passes because it was not recognized.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Any, Final

import orjson

from conformance.documents import BOUNDS, JSON, parse_json
from conformance.documents.pointer import Place, render
from conformance.errors import InvalidDocument

_COMPRESSED: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
"""The first bytes of gzip and of Zstandard."""

_FIELDS: Final = ("data:", "event:", "id:", "retry:", ":")
_LATER_FIELD: Final = re.compile(r"[\r\n](?:data|event):")
_SHOWN: Final = 40
_AS_IT_STANDS: Final = (
    orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
)


def request_body(value: Any) -> JSON:
    """Return a request body: bytes and text are parsed, mappings and sequences become dicts and lists.

    Raises InvalidDocument for text that is not JSON, TypeError for a value that JSON cannot hold.
    """
    if isinstance(value, (bytes, bytearray, memoryview, str)):
        return parse_json(bytes(value) if not isinstance(value, str) else value, "request")
    return _copied(value, "request")


def reply_body(value: Any) -> JSON:
    """Return a reply body: an event stream or text that is not JSON stays text, so that rules can check it."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        if data.startswith(_COMPRESSED):
            message = "response: expected a decoded body, got compressed bytes; undo the Content-Encoding first"
            raise TypeError(message)
        if data.startswith(b"{"):
            # Most bodies are JSON, which need not be decoded first.
            with suppress(InvalidDocument):
                return parse_json(data, "response")
        # A byte that is not UTF-8 becomes U+FFFD, as every client shows it; stream/utf8-valid reports that.
        value = data.decode(errors="replace")
    if not isinstance(value, str):
        return _copied(value, "response")
    if is_event_stream(value):
        return str(value)
    try:
        return parse_json(str(value), "response")
    except InvalidDocument:
        return str(value)


def is_event_stream(text: str) -> bool:
    """Return whether text begins like an event stream: with a field or a comment, after at most blank lines."""
    return text[:4096].lstrip("\ufeff\r\n ").startswith(_FIELDS)


def is_foreign(text: str) -> bool:
    """Return whether text that should be an event stream is something else: none of its lines begins with a field."""
    return not is_event_stream(text) and _LATER_FIELD.search(text) is None and not text.isspace() and text != ""


def body_in_words(value: Any) -> str:
    """Return in a few words what a body is that should be a JSON object."""
    if not isinstance(value, str):
        return "a list" if isinstance(value, list) else repr(value)
    if not value.lstrip().startswith(("{", "[")):
        return f"text that begins with {value[:_SHOWN]!r}" if value.strip() else "empty text"
    try:
        parse_json(value)
    except InvalidDocument as error:
        place = f" (at {error.pointer})" if error.pointer else ""
        return f"text that is not valid JSON: {error.message}{place}"
    return "JSON that was encoded twice"


def _copied(value: Any, name: str) -> JSON:
    """Return a value as `plain` does, quicker if it is JSON as it stands: a session repeats all that was said."""
    with suppress(TypeError, ValueError):
        copy: JSON = orjson.loads(orjson.dumps(value, option=_AS_IT_STANDS))
        # What JSON has another form for, such as a tuple or infinity, is unequal.
        if copy == value:
            return copy
    return plain(value, (name,))


def plain(value: Any, place: Place = ()) -> JSON:
    """Return a value as dicts, lists, strings, numbers, booleans and None.

    Subclasses lose their type: an OrderedDict becomes a dict, a string enum its text. Raises TypeError with the place
    for any other value, and for nesting beyond the depth bound of documents.
    """
    kind = type(value)
    # Floats are missing here because infinity and NaN, which JSON lacks, have to be found.
    if kind is str or kind is int or kind is bool or value is None:
        return value  # type: ignore[no-any-return]
    if isinstance(value, Mapping):
        _check_depth(place)
        return {_key(key, place): plain(each, (*place, key)) for key, each in value.items()}
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        _check_depth(place)
        return [plain(each, (*place, number)) for number, each in enumerate(value)]
    raise TypeError(f"{_where(place)}: cannot represent {_described(value)} as JSON{_advice(value)}")


def header_fields(value: Any) -> dict[str, str]:
    """Return headers by lower-case name; takes a mapping, httpx.Headers, or pairs of name and value.

    The values of a repeated name are joined by a comma. Raises TypeError for anything else.
    """
    fields: dict[str, str] = {}
    for pair in _pairs(value):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            message = f"headers: expected a name and a value, got {pair!r:.60}"
            raise TypeError(message)
        name, text = _header_text(pair[0]).lower(), _header_text(pair[1])
        fields[name] = f"{fields[name]}, {text}" if name in fields else text
    return fields


def status_code(value: Any) -> int | None:
    """Return an HTTP status as an int; raises TypeError for anything but an int or None."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return None if value is None else int(value)
    message = f"status: expected an int or None, got {_described(value)}"
    raise TypeError(message)


def day(value: Any) -> str:
    """Return the ISO 8601 day of a date, a datetime or a string that begins with one; empty for an empty string."""
    if isinstance(value, date):
        return value.isoformat()[:10]
    if isinstance(value, str):
        return value[:10]
    message = f"date: expected an ISO 8601 string or a date, got {_described(value)}"
    raise TypeError(message)


def _pairs(value: Any) -> Iterable[Any]:
    if value is None:
        return ()
    multiple = getattr(value, "multi_items", None)  # httpx.Headers: items() would join repeated names
    if callable(multiple):
        pairs: Iterable[Any] = multiple()
        return pairs
    if isinstance(value, Mapping):
        return value.items()
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return value
    message = f"headers: expected a mapping or pairs of name and value, got {_described(value)}"
    raise TypeError(message)


def _header_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_header_text, value))
    message = f"headers: expected text, got {_described(value)}"
    raise TypeError(message)


def _key(key: Any, place: Place) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    message = f"{_where(place)}: expected keys that are strings, got {_described(key)}"
    raise TypeError(message)


def _check_depth(place: Place) -> None:
    if len(place) > BOUNDS.depth:
        message = f"{_where(place[:4])}: nested deeper than {BOUNDS.depth} levels"
        raise TypeError(message)


def _where(place: Place) -> str:
    return f"{place[0]} at {render(place[1:])}" if len(place) > 1 else str(place[0] if place else "value")


def _described(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _advice(value: Any) -> str:
    if hasattr(value, "model_dump"):
        return "; pass value.model_dump(mode='json', exclude_unset=True)"
    return "; decode it first" if isinstance(value, (bytes, bytearray, memoryview)) else ""
