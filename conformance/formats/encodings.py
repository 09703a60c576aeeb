"""Files in other encodings than plain UTF-8: with a byte order mark, or in UTF-16 as shells on Windows write it."""

import codecs
import re
from typing import Final

from conformance.errors import InvalidDocument

MARK: Final = codecs.BOM_UTF8
_WIDE: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UNMARKED: Final = {"utf-16-le": re.compile(rb"(?:[ -~\s]\0){4}"), "utf-16-be": re.compile(rb"(?:\0[ -~\s]){4}")}
_MARKED: Final = "begins with a byte order mark, which is ignored here; a body on the wire must not begin with one"
_CONVERTED: Final = "is UTF-16, which is read as UTF-8; a body on the wire must be UTF-8"


def is_wide(head: bytes) -> bool:
    """Return whether a file begins like text in UTF-16."""
    return head.startswith(_WIDE) or any(pattern.match(head) for pattern in _UNMARKED.values())


def as_utf8(data: bytes, path: str) -> tuple[bytes, str]:
    """Return the content of a file as UTF-8 without a mark, and a note that says what was changed, or an empty one."""
    if data.startswith(MARK):
        return data.removeprefix(MARK), _MARKED
    if not is_wide(data):
        return data, ""
    marked = data.startswith(_WIDE)
    name = "utf-16" if marked else next(name for name, pattern in _UNMARKED.items() if pattern.match(data))
    try:
        return data.decode(name).encode(), _CONVERTED
    except UnicodeError as error:
        raise InvalidDocument(f"expected UTF-16, as its first bytes say, got: {error}", path) from None
