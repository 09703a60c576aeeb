"""A strict scan of a JSON text, token by token: it finds the first syntax fault, or the line of a value.

It takes about a hundred times as long as orjson, so it runs only on texts that look faulty, and to find lines for
reports.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from conformance.documents.bounds import BOUNDS, INTEGERS
from conformance.documents.pointer import ancestry, render
from conformance.errors import InvalidDocument

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_STRING: Final = re.compile(r'"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*)', re.DOTALL)
_ESCAPED: Final = re.compile(r'(?:[^\\]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![0-9.eE+-])")
_LITERAL: Final = re.compile(r"true|false|null")
_NOT_A_NUMBER: Final = re.compile(r"-?(?:NaN|Infinity)")
_WORD: Final = re.compile(r"[A-Za-z0-9_.+-]{1,30}")
_SHOWN_TOKENS: Final = 8


class SyntaxFault(NamedTuple):
    """What is wrong, on which line (1-based), and in which value: a pointer, or None if the text holds no value."""

    message: str
    line: int
    pointer: str | None

    def error(self, file: str) -> InvalidDocument:
        """Return the fault as an error that names the file."""
        return InvalidDocument(self.message, file, self.line, self.pointer)


class _InvalidJson(Exception):
    """Ends the scan at a fault."""

    def __init__(self, message: str, offset: int) -> None:
        self.message, self.offset = message, offset


def undecoded(raw: bytes) -> str:
    """Return bytes as text, with each byte that is not UTF-8 as a lone surrogate, which the scan reports."""
    return raw.decode("utf-8", "surrogateescape")


def find_fault(text: str, depth: int) -> SyntaxFault | None:
    """Return the first fault of a JSON text, or None; `depth` is the maximum nesting of arrays and objects."""
    scan = _Scan(text, depth)
    try:
        scan.document()
    except _InvalidJson as found:
        line = text.count("\n", 0, found.offset) + 1
        return SyntaxFault(found.message, line, render(scan.place) if scan.started else None)
    return None


def syntax_error_position(raw: bytes) -> tuple[int, int]:
    """Return line and column (1-based) of the first syntax fault of a JSON text, or of its end if it has none."""
    text = undecoded(raw)
    scan = _Scan(text, BOUNDS.depth)
    offset = len(text)
    try:
        scan.document()
    except _InvalidJson as found:
        offset = found.offset
    return _line_and_column(text, offset)


def lines_of(text: str, pointers: Iterable[str]) -> Mapping[str, int]:
    """Return for each pointer the line (1-based) on which its value begins, or that of its nearest existing ancestor.

    The text must be one that `parse_json` accepts.
    """
    wanted = {pointer: tuple(ancestry(pointer)) for pointer in pointers}
    scan = _Locator(text, {pointer for candidates in wanted.values() for pointer in candidates})
    scan.document()
    lines = _line_numbers(text, scan.found)
    return {
        pointer: next(lines[candidate] for candidate in candidates if candidate in lines)
        for pointer, candidates in wanted.items()
    }


def end_of(text: str, pointer: str) -> tuple[int, int]:
    """Return line and column (1-based) of the character after the value at a pointer, or after the whole text.

    The text must be one that `parse_json` accepts.
    """
    locator = _Locator(text, {pointer})
    locator.document()
    start = locator.found.get(pointer)
    end = len(text) if start is None else json.JSONDecoder().raw_decode(text, start)[1]
    return _line_and_column(text, end)


def _line_and_column(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


class _Scan:
    """One pass over a text, which ends at its first fault.

    `at` is the offset of the next character, `place` leads to the value that is being read, and `keys` has an entry
    for each open container: the offset of each of its keys, None for an array.
    """

    def __init__(self, text: str, depth: int) -> None:
        self.text, self.depth = text, depth
        self.at = 0
        self.started = False
        self.place: list[str | int] = []
        self.keys: list[dict[str, int] | None] = []

    def document(self) -> None:
        """Read the whole text."""
        if self.text.startswith("\ufeff"):
            raise _InvalidJson("expected JSON, got a byte order mark; save the text as UTF-8 without one", 0)
        if not self.skip_space():
            raise _InvalidJson("expected JSON, got an empty text", 0)
        self.started = True
        value_follows = True
        while value_follows or self.keys:
            value_follows = self.value() if value_follows else self.after_value()
        if self.skip_space():
            raise _InvalidJson(f"expected the end of the text, got {self.found_here()}", self.at)

    def skip_space(self) -> str:
        """Move to the next character that is not white space and return it; empty at the end of the text."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def found_here(self) -> str:
        """Return what stands at the current offset, as a message names it."""
        word = _WORD.match(self.text, self.at)
        if word:
            return repr(word.group())
        return _named(self.text[self.at]) if self.at < len(self.text) else "the end of the text"

    def value(self) -> bool:
        """Read a scalar, or a container up to its first value; return whether a value follows."""
        character = self.skip_space()
        if character == "{":
            return self.open_container({}, "}")
        if character == "[":
            return self.open_container(None, "]")
        if character == '"':
            self.string()
        else:
            self.word()
        return False

    def open_container(self, keys: dict[str, int] | None, end: str) -> bool:
        """Read a container up to its first value; return whether it has one."""
        if len(self.keys) >= self.depth:
            del self.place[_SHOWN_TOKENS:]
            raise _InvalidJson(f"expected at most {self.depth} nested arrays and objects, got more", self.at)
        self.at += 1
        if self.skip_space() == end:
            self.at += 1
            return False
        self.keys.append(keys)
        if keys is None:
            self.place.append(0)
        else:
            self.key(keys)
        return True

    def after_value(self) -> bool:
        """Read what follows a value in its container: the end or a comma; return whether a value follows."""
        keys, character = self.keys[-1], self.skip_space()
        end = "]" if keys is None else "}"
        if character not in (end, ","):
            raise _InvalidJson(f"expected ',' or {end!r}, got {self.found_here()}", self.at)
        self.at += 1
        last = self.place.pop()
        if character == end:
            self.keys.pop()
            return False
        if isinstance(last, int):
            self.place.append(last + 1)
        elif keys is not None:
            self.key(keys)
        return True

    def key(self, keys: dict[str, int]) -> None:
        """Read a key and the colon after it."""
        if self.skip_space() != '"':
            raise _InvalidJson(f"expected a key in double quotes, got {self.found_here()}", self.at)
        start = self.at
        name = self.string()
        self.place.append(name)
        # The first offset of a key stays, so that another one shows that the key came before.
        if keys.setdefault(name, start) != start:
            line = self.text.count("\n", 0, keys[name]) + 1
            raise _InvalidJson(f"expected each key once, got {name!r} again (first on line {line})", start)
        if self.skip_space() != ":":
            raise _InvalidJson(f"expected ':', got {self.found_here()}", self.at)
        self.at += 1

    def string(self) -> str:
        """Read a string and return its value."""
        found = _STRING.match(self.text, self.at)
        end = found.end() if found else self.at
        inner = found.group(1) if found else ""
        self.check_string(inner)
        if end >= len(self.text) or self.text[end] == "\\":
            raise _InvalidJson("expected the end of a string, got the end of the text", len(self.text))
        if self.text[end] != '"':
            raise _InvalidJson(f"expected control characters escaped, got {self.text[end]!r} in a string", end)
        value: str = json.loads(f'"{inner}"') if "\\" in inner else inner
        alone = None if value.isascii() else _SURROGATE.search(value)
        if alone:
            raise _InvalidJson(f"expected a pair of surrogates, got {_named(alone.group())}", self.at)
        self.at = end + 1
        return value

    def check_string(self, inner: str) -> None:
        """Raise for a byte that is not UTF-8, and for an escape that JSON does not define."""
        raw = None if inner.isascii() else _SURROGATE.search(inner)
        if raw:
            raise _InvalidJson(f"expected Unicode text, got {_named(raw.group())}", self.at + 1 + raw.start())
        known = _ESCAPED.match(inner)
        end = known.end() if known else 0
        if end < len(inner):
            raise _InvalidJson(f"expected a JSON escape, got {inner[end : end + 2]!r}", self.at + 1 + end)

    def word(self) -> None:
        """Read a number or a literal."""
        wrong = _NOT_A_NUMBER.match(self.text, self.at)
        if wrong:
            raise _InvalidJson(f"expected a number, got {wrong.group()}, which is not JSON", self.at)
        number = _NUMBER.match(self.text, self.at)
        found = number or _LITERAL.match(self.text, self.at)
        if found is None:
            raise _InvalidJson(f"expected a value, got {self.found_here()}", self.at)
        if number:
            self.check_number(number.group(), whole=number.group(1) is None and number.group(2) is None)
        self.at = found.end()

    def check_number(self, digits: str, *, whole: bool) -> None:
        """Raise for a number that does not fit in 64 bits or a double."""
        short = digits if len(digits) <= 24 else f"{digits[:20]}… of {len(digits)} characters"
        if whole and (len(digits) > 20 or int(digits) not in INTEGERS):
            raise _InvalidJson(f"expected an integer of at most 64 bits, got {short}", self.at)
        if not whole and abs(float(digits)) == float("inf"):
            raise _InvalidJson(f"expected a number that fits in a double, got {short}", self.at)


class _Locator(_Scan):
    """A pass that records the offsets at which the wanted values begin."""

    def __init__(self, text: str, wanted: set[str]) -> None:
        super().__init__(text, BOUNDS.depth)
        self.wanted = wanted
        self.found: dict[str, int] = {}

    def value(self) -> bool:
        here = render(self.place)
        if here in self.wanted:
            self.skip_space()
            self.found[here] = self.at
        return super().value()


def _named(character: str) -> str:
    if "\udc80" <= character <= "\udcff":
        return f"the byte 0x{ord(character) - 0xDC00:02X}, which is not UTF-8"
    return f"U+{ord(character):04X} alone" if "\ud800" <= character <= "\udfff" else repr(character)


def _line_numbers(text: str, offsets: Mapping[str, int]) -> dict[str, int]:
    lines: dict[str, int] = {}
    line, before = 1, 0
    for name, offset in sorted(offsets.items(), key=lambda item: item[1]):
        line += text.count("\n", before, offset)
        before = offset
        lines[name] = line
    return lines
