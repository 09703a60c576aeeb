"""Where exactly a JSON text is wrong: a strict scan, token by token, that stops at the first fault.

It costs about a hundred times what orjson does, and so runs only on texts that are already under suspicion.
"""

import json
import re
from typing import Final, NamedTuple

from conformance.errors import InvalidDocument

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_STRING: Final = re.compile(r'"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*)', re.DOTALL)
_ESCAPED: Final = re.compile(r'(?:[^\\]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![0-9.eE+-])")
_LITERAL: Final = re.compile(r"true|false|null")
_NOT_A_NUMBER: Final = re.compile(r"-?(?:NaN|Infinity)")
_WORD: Final = re.compile(r"[A-Za-z0-9_.+-]{1,30}")
_SMALLEST: Final = -(2**63)
_LARGEST: Final = 2**64 - 1
_FIRST_STEPS: Final = 8


class Fault(NamedTuple):
    """What is wrong, on which line (1-based), and in which value: a pointer, or None where the text has no value."""

    message: str
    line: int
    pointer: str | None

    def error(self, file: str) -> InvalidDocument:
        """Return the fault as the error that names the file."""
        return InvalidDocument(self.message, file, self.line, self.pointer)


class _Found(Exception):
    """The scan ends here."""

    def __init__(self, message: str, offset: int) -> None:
        self.message, self.offset = message, offset


def undecoded(raw: bytes) -> str:
    """Return the text of bytes, with each byte that is not UTF-8 as a lone surrogate, which the scan will meet."""
    return raw.decode("utf-8", "surrogateescape")


def find_fault(text: str, depth: int) -> Fault | None:
    """Return the first fault of a JSON text, or None; `depth` is how deep arrays and objects may be nested."""
    scan = Scan(text, depth)
    try:
        scan.document()
    except _Found as found:
        line = text.count("\n", 0, found.offset) + 1
        return Fault(found.message, line, pointer(scan.place) if scan.begun else None)
    return None


def pointer(place: list[str | int]) -> str:
    """Return the JSON Pointer of a place."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in place)


class Scan:
    """One pass over a text, which ends at its first fault.

    `at` is the offset of what comes next, `place` leads to the value that is being read, and `keys` holds for each
    open container where its keys stand, None for an array.
    """

    def __init__(self, text: str, depth: int) -> None:
        self.text, self.depth = text, depth
        self.at = 0
        self.begun = False
        self.place: list[str | int] = []
        self.keys: list[dict[str, int] | None] = []

    def document(self) -> None:
        """Read the whole text."""
        if self.text.startswith("\ufeff"):
            raise _Found("expected JSON, got a byte order mark; save the text as UTF-8 without one", 0)
        if not self.next():
            raise _Found("expected JSON, got an empty text", 0)
        self.begun = True
        value_follows = True
        while value_follows or self.keys:
            value_follows = self.value() if value_follows else self.after_value()
        if self.next():
            raise _Found(f"expected the end of the text, got {self.seen()}", self.at)

    def next(self) -> str:
        """Return the next character that is not white space, empty at the end of the text, and stand before it."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def seen(self) -> str:
        """Return what stands here, as a reader would name it."""
        word = _WORD.match(self.text, self.at)
        if word:
            return repr(word.group())
        return _named(self.text[self.at]) if self.at < len(self.text) else "the end of the text"

    def value(self) -> bool:
        """Read a scalar, or the opening of a container up to its first value; tell whether a value follows."""
        character = self.next()
        if character == "{":
            return self.opened({}, "}")
        if character == "[":
            return self.opened(None, "]")
        if character == '"':
            self.string()
        else:
            self.word()
        return False

    def opened(self, keys: dict[str, int] | None, end: str) -> bool:
        """Read the opening of a container up to its first value; tell whether it has one."""
        if len(self.keys) >= self.depth:
            del self.place[_FIRST_STEPS:]
            raise _Found(f"expected at most {self.depth} nested arrays and objects, got more", self.at)
        self.at += 1
        if self.next() == end:
            self.at += 1
            return False
        self.keys.append(keys)
        if keys is None:
            self.place.append(0)
        else:
            self.key(keys)
        return True

    def after_value(self) -> bool:
        """Read what follows a value within its container, its end or a comma; tell whether a value follows."""
        keys, character = self.keys[-1], self.next()
        end = "]" if keys is None else "}"
        if character not in (end, ","):
            raise _Found(f"expected ',' or {end!r}, got {self.seen()}", self.at)
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
        """Read a key and the colon behind it."""
        if self.next() != '"':
            raise _Found(f"expected a key in double quotes, got {self.seen()}", self.at)
        start = self.at
        name = self.string()
        self.place.append(name)
        if keys.setdefault(name, start) != start:
            line = self.text.count("\n", 0, keys[name]) + 1
            raise _Found(f"expected each key once, got {name!r} again (first on line {line})", start)
        if self.next() != ":":
            raise _Found(f"expected ':', got {self.seen()}", self.at)
        self.at += 1

    def string(self) -> str:
        """Read a string and return what it says."""
        found = _STRING.match(self.text, self.at)
        end = found.end() if found else self.at
        inner = found.group(1) if found else ""
        self.within(inner)
        if end >= len(self.text) or self.text[end] == "\\":
            raise _Found("expected the end of a string, got the end of the text", len(self.text))
        if self.text[end] != '"':
            raise _Found(f"expected control characters escaped, got {self.text[end]!r} in a string", end)
        value: str = json.loads(f'"{inner}"') if "\\" in inner else inner
        alone = None if value.isascii() else _SURROGATE.search(value)
        if alone:
            raise _Found(f"expected a pair of surrogates, got {_named(alone.group())}", self.at)
        self.at = end + 1
        return value

    def within(self, inner: str) -> None:
        """Raise on a byte that is not UTF-8, and on an escape that JSON does not know."""
        raw = None if inner.isascii() else _SURROGATE.search(inner)
        if raw:
            raise _Found(f"expected Unicode text, got {_named(raw.group())}", self.at + 1 + raw.start())
        known = _ESCAPED.match(inner)
        end = known.end() if known else 0
        if end < len(inner):
            raise _Found(f"expected an escape that JSON knows, got {inner[end : end + 2]!r}", self.at + 1 + end)

    def word(self) -> None:
        """Read a number or a literal."""
        wrong = _NOT_A_NUMBER.match(self.text, self.at)
        if wrong:
            raise _Found(f"expected a number, got {wrong.group()}, which JSON does not know", self.at)
        number = _NUMBER.match(self.text, self.at)
        found = number or _LITERAL.match(self.text, self.at)
        if found is None:
            raise _Found(f"expected a value, got {self.seen()}", self.at)
        if number:
            self.number(number.group(), whole=number.group(1) is None and number.group(2) is None)
        self.at = found.end()

    def number(self, digits: str, *, whole: bool) -> None:
        """Raise on a number that a program may not hold."""
        short = digits if len(digits) <= 24 else f"{digits[:20]}… of {len(digits)} characters"
        if whole and (len(digits) > 20 or not _SMALLEST <= int(digits) <= _LARGEST):
            raise _Found(f"expected an integer of at most 64 bit, got {short}", self.at)
        if not whole and abs(float(digits)) == float("inf"):
            raise _Found(f"expected a number that a double can hold, got {short}", self.at)


def _named(character: str) -> str:
    if "\udc80" <= character <= "\udcff":
        return f"the byte 0x{ord(character) - 0xDC00:02X}, which is not UTF-8"
    return f"U+{ord(character):04X} alone" if "\ud800" <= character <= "\udfff" else repr(character)
