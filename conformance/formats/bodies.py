"""Bodies as recorders keep them (text, bytes, base64, gzip, HTTP's chunked framing), back to what was meant."""

import binascii
import zlib
from collections.abc import Mapping
from typing import Any, Final

import orjson

from conformance.documents import BOUNDS, JSON, parse_json
from conformance.errors import InvalidDocument
from conformance.formats.streams import GZIP
from conformance.wire.plain import is_event_stream

_GZIP_AS_TEXT: Final = GZIP.decode("latin-1")
_ANY_HEADER: Final = 47
"""Tells zlib to accept the header of gzip as well as its own."""
_EVENT_STREAM: Final = "text/event-stream"
_HEX: Final = b"0123456789abcdefABCDEF"
_LONGEST_SIZE: Final = 8


def request_body(kept: Any, file: str) -> JSON:
    """Return the JSON value of a request body; raises InvalidDocument where its text is none."""
    body = plain(kept, file)
    return parse_json(body, file) if isinstance(body, str) else body


def reply_body(kept: Any, headers: Mapping[str, str], file: str) -> tuple[JSON, bool]:
    """Return a reply's body and whether it is a stream; text that is not sound JSON stays text, to be judged."""
    body = plain(kept, file)
    if not isinstance(body, str):
        return body, False
    if "chunked" in headers.get("transfer-encoding", ""):
        body = _without_chunk_sizes(body)
    if is_event_stream(body):
        return body, True
    try:
        return parse_json(body, file), False
    except InvalidDocument:
        return body, _EVENT_STREAM in headers.get("content-type", "")


def plain(kept: Any, file: str) -> JSON:
    """Return a body as text where it was kept as bytes or in a wrapping, and else the value that was kept."""
    if isinstance(kept, Mapping):
        return _unwrapped(kept, file)
    if isinstance(kept, list) and kept and all(isinstance(part, (str, bytes)) for part in kept):
        return text_of(b"".join(part.encode() if isinstance(part, str) else part for part in kept), file)
    if isinstance(kept, str):
        return text_of(_bytes_of(kept, file), file) if kept.startswith(_GZIP_AS_TEXT) else kept
    return text_of(kept, file) if isinstance(kept, bytes) else _checked(kept, file)


def text_of(data: bytes, file: str) -> str:
    """Return the text of a body's bytes, unpacked if they are gzip; raises InvalidDocument where they are no text."""
    data = unzip(data, file) if data.startswith(GZIP) else data
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        got = f"got the byte 0x{data[error.start]:02X} at {error.start}"
        raise InvalidDocument(f"expected a body of UTF-8 text, plain or gzip, {got}", file) from None


def from_base64(text: str, file: str) -> bytes:
    """Return the bytes of base64 text; raises InvalidDocument where it is none."""
    try:
        return binascii.a2b_base64(text)
    except ValueError as error:
        raise InvalidDocument(f"expected base64, got: {error}", file) from None


def unzip(data: bytes, file: str) -> bytes:
    """Return what gzip or zlib data hold, within the size bound of a document."""
    result = b""
    while data:
        unpacker = zlib.decompressobj(_ANY_HEADER)
        try:
            result += unpacker.decompress(data, BOUNDS.bytes + 1 - len(result))
        except zlib.error as error:
            raise InvalidDocument(f"expected gzip data, got: {error}", file) from None
        if len(result) > BOUNDS.bytes:
            raise InvalidDocument(f"expected at most {BOUNDS.bytes} bytes once unpacked, got more", file)
        if not unpacker.eof:
            raise InvalidDocument("expected gzip data to their end, got a cut part", file)
        data = unpacker.unused_data.lstrip(b"\0")
    return result


def _unwrapped(kept: Mapping[str, Any], file: str) -> JSON:
    for key in ("base64_string", "b64"):
        if isinstance(kept.get(key), str):
            return text_of(from_base64(kept[key], file), file)
    return plain(kept["string"], file) if "string" in kept else _checked(dict(kept), file)


def _checked(value: Any, file: str) -> JSON:
    """Return a body that was kept parsed, which YAML lets hold what JSON cannot."""
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
        raise InvalidDocument("expected gzip data, got them damaged by a conversion to text", file) from None


def _without_chunk_sizes(body: str) -> str:
    """Return a body without the sizes of HTTP's chunked framing, where all of it is framed so."""
    data, rest = bytearray(), body.encode()
    while rest:
        line, found, rest = rest.partition(b"\r\n")
        digits = line.partition(b";")[0].strip()
        if not found or not digits or digits.strip(_HEX) or len(digits) > _LONGEST_SIZE:
            return body
        size = int(digits, 16)
        if size == 0:
            return data.decode(errors="replace")
        data += rest[:size]
        rest = rest[size:].removeprefix(b"\r\n")
    return body
