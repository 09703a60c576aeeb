"""Strict JSON (RFC 8259) at the speed of orjson.

orjson already rejects NaN, lone surrogates and bytes that are not UTF-8. What it accepts (a duplicate key, an integer
beyond 64 bits that becomes a float) shows when the value is rendered again and compared with the text. The text is
scanned only if that comparison is inconclusive.
"""

from pathlib import Path
from typing import Final

import orjson

from conformance.documents.bounds import BOUNDS, JSON, Bounds, check_size, read_bytes
from conformance.errors import InvalidDocument

_SPACE: Final = b" \t\r\n"
_DIGITS_AS_ZEROS: Final = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
_LONG_RUN: Final = b"0" * 19


def parse_json(data: bytes | str, file: str = "<input>", bounds: Bounds = BOUNDS) -> JSON:
    """Return the value of a JSON text.

    Raises InvalidDocument with line and pointer for a syntax error, NaN and Infinity, a duplicate key, a lone
    surrogate, bytes that are not UTF-8, a byte order mark, an integer beyond 64 bits, a number beyond a double, and
    a text beyond the bounds. Source: RFC 8259, and RFC 7493 (I-JSON) for what it leaves open.
    """
    raw = data if isinstance(data, bytes) else _encoded(data, file, bounds)
    if len(raw) > bounds.bytes:
        check_size(raw, file, bounds)
    try:
        value: JSON = orjson.loads(raw)
        rendered = orjson.dumps(value)
    except orjson.JSONDecodeError as error:
        _scan(raw, file, bounds)
        raise InvalidDocument(error.msg, file, error.lineno) from None
    except orjson.JSONEncodeError:
        _scan(raw, file, bounds)
        return value
    # orjson renders nothing deeper than the usual bound, so a text that comes out the same is right as it is.
    if rendered == raw and bounds is BOUNDS:
        return value
    if bounds.depth < BOUNDS.depth or not _differs_in_form_only(raw, rendered):
        _scan(raw, file, bounds)
    return value


def read_json(path: Path, bounds: Bounds = BOUNDS) -> JSON:
    """Return the value of a JSON file; raises InvalidDocument as `parse_json` does, and if it cannot be read."""
    return parse_json(read_bytes(path, bounds), str(path), bounds)


def _differs_in_form_only(raw: bytes, rendered: bytes) -> bool:
    """Return whether the rendered value proves that parsing lost nothing; False if it is inconclusive.

    Texts that are equal without white space have equal tokens. If escapes prevent that comparison, two counts decide:
    a lost member takes a colon with it, which only an escaped colon could replace, and an integer that became a float
    has at least 19 digits.
    """
    escaped = raw.isascii() and not rendered.isascii()
    if not escaped and raw.translate(None, _SPACE) == rendered.translate(None, _SPACE):
        return True
    if raw.count(b":") != rendered.count(b":") or b"\\u003a" in raw or b"\\u003A" in raw:
        return False
    return _LONG_RUN not in raw.translate(_DIGITS_AS_ZEROS)


def _scan(raw: bytes, file: str, bounds: Bounds) -> None:
    # Imported here because a valid text never needs the scanner.
    from conformance.documents.json_scan import find_fault, undecoded

    fault = find_fault(undecoded(raw), bounds.depth)
    if fault is not None:
        raise fault.error(file)


def _encoded(text: str, file: str, bounds: Bounds) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        from conformance.documents.json_scan import SyntaxFault, find_fault

        fault = find_fault(text, bounds.depth) or SyntaxFault("expected Unicode text, got a lone surrogate", 1, None)
        raise fault.error(file) from None
