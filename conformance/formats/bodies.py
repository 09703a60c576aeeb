"""Bodies as recorders store them (text, bytes, base64, packed, HTTP's chunked framing), decoded."""

import binascii
from collections.abc import Mapping
from typing import Any, Final

import orjson

from conformance.documents import JSON, parse_json
from conformance.errors import InvalidDocument
from conformance.formats.compression import GZIP, unpack_body
from conformance.wire.plain import is_event_stream

_GZIP_AS_TEXT: Final = GZIP.decode("latin-1")
_EVENT_STREAM: Final = "text/event-stream"
_GUESSED: Final = "ISO-8859-1"
_HEX: Final = b"0123456789abcdefABCDEF"
_MAX_SIZE_DIGITS: Final = 8
_WRAPPERS: Final = frozenset({"base64_string", "b64", "string"})


def request_body(recorded: Any, file: str, *, is_json: bool = False) -> JSON:
    """Return the JSON value of a request body; raises InvalidDocument if its text is not JSON.

    `is_json`: whether what was recorded comes from a JSON text, so that its values need not be looked at.
    """
    body = decode(recorded, file, is_json=is_json)
    return parse_json(body, file) if isinstance(body, str) else body


def reply_body(recorded: Any, headers: Mapping[str, str], file: str, *, is_json: bool = False) -> tuple[JSON, bool]:
    """Return a reply's body and whether it is a stream; text that is not valid JSON stays text, for the rules."""
    body = decode(recorded, file, headers.get("content-encoding", ""), is_json=is_json)
    if not isinstance(body, str):
        return body, False
    # Some recorders keep the framing in the body, others only the header that announces it.
    if "chunked" in headers.get("transfer-encoding", ""):
        body = _without_chunk_sizes(body)
    # Before the header is asked, because servers send streams under the type of JSON, too.
    if is_event_stream(body):
        return body, True
    try:
        return parse_json(body, file), False
    except InvalidDocument:
        return body, _EVENT_STREAM in headers.get("content-type", "")


def decode(recorded: Any, file: str, coding: str = "", *, is_json: bool = False) -> JSON:
    """Return a body as text if it was recorded as bytes or in a wrapper, else the recorded value itself.

    `coding` is the content coding of the body, if its headers name one. `is_json`: as for `request_body`.
    """
    if is_json and not (isinstance(recorded, (str, list)) or (type(recorded) is dict and _is_wrapper(recorded))):
        value: JSON = recorded
        return value
    if isinstance(recorded, Mapping):
        return _unwrap(recorded, file, coding)
    if isinstance(recorded, list) and recorded and all(isinstance(item, (str, bytes)) for item in recorded):
        return _decode_text(
            b"".join(item.encode() if isinstance(item, str) else item for item in recorded), file, coding
        )
    if isinstance(recorded, str):
        return _decode_text(_bytes_of(recorded, file), file) if recorded.startswith(_GZIP_AS_TEXT) else recorded
    return _decode_text(recorded, file, coding) if isinstance(recorded, bytes) else _checked(recorded, file)


def decode_base64(text: str, file: str) -> bytes:
    """Return the bytes of base64 text; raises InvalidDocument if it is not base64."""
    try:
        # Not strict: recorders break base64 into lines.
        return binascii.a2b_base64(text)
    except ValueError as error:
        raise InvalidDocument(f"expected base64, got: {error}", file) from None


def _decode_text(data: bytes, file: str, coding: str = "") -> str:
    """Return the text of a body's bytes, unpacked if they are packed; raises InvalidDocument if they are not text."""
    data = unpack_body(data, coding, file)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        got = f"got the byte 0x{data[error.start]:02X} at {error.start}"
        raise InvalidDocument(f"expected a body of UTF-8 text, plain or packed, {got}", file) from None


def _is_wrapper(recorded: Mapping[str, Any]) -> bool:
    return not _WRAPPERS.isdisjoint(recorded) or recorded.keys() == {"type", "content"}


def _unwrap(recorded: Mapping[str, Any], file: str, coding: str) -> JSON:
    # Ruby's VCR and Betamax write the first one.
    for key in ("base64_string", "b64"):
        if isinstance(recorded.get(key), str):
            return _decode_text(decode_base64(recorded[key], file), file, coding)
    if recorded.keys() == {"type", "content"}:
        return decode(recorded["content"], file, coding)
    if "string" not in recorded:
        return _checked(dict(recorded), file)
    text = decode(recorded["string"], file, coding)
    return _as_sent(text) if recorded.get("encoding") == _GUESSED and isinstance(text, str) else text


def _as_sent(text: str) -> str:
    """Return text whose UTF-8 was read as Latin-1, as Betamax does where a reply does not name its charset."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _checked(value: Any, file: str) -> JSON:
    """Return a body that was recorded as a value; YAML allows values that JSON does not."""
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError as error:
        raise InvalidDocument(f"expected a body of JSON values, got: {error}", file) from None
    result: JSON = value
    return result


def _bytes_of(text: str, file: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise InvalidDocument("expected gzip data, got data damaged by a conversion to text", file) from None


def _without_chunk_sizes(body: str) -> str:
    """Return a body without the sizes of HTTP's chunked framing, if all of it is framed that way."""
    data, rest = bytearray(), body.encode()
    while rest:
        line, found, rest = rest.partition(b"\r\n")
        digits = line.partition(b";")[0].strip()
        if not found or not digits or digits.strip(_HEX) or len(digits) > _MAX_SIZE_DIGITS:
            return body
        size = int(digits, 16)
        if size == 0:
            return data.decode(errors="replace")
        data += rest[:size]
        rest = rest[size:].removeprefix(b"\r\n")
    return body
