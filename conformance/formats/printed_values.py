"""Values as programs print them: Python's `repr`, Node's `util.inspect`, Ruby's and Elixir's `inspect`, JSON.

A log holds such a value in the middle of other text, so reading starts at a place and returns where the value ends.

Source: https://docs.python.org/3/reference/lexical_analysis.html#string-and-bytes-literals and
https://nodejs.org/api/util.html#utilinspectobject-options
"""

import re
from typing import Any, Final, NamedTuple

_MAX_DEPTH: Final = 100
_TOKEN: Final = re.compile(
    r"""\s*(?:%(?=\{))?(?:
    (?P<text>[bruBRU]{0,2}(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`))
    |(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?n?)(?![\w.])
    |(?P<mark>=>|[\[\](){},:+=])
    |(?P<name>[A-Za-z_$][\w$.]*)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(
    r"\\(?:u\{(?P<point>[0-9A-Fa-f]{1,6})\}|x(?P<hex>[0-9A-Fa-f]{2})|u(?P<four>[0-9A-Fa-f]{4})"
    r"|U(?P<eight>[0-9A-Fa-f]{8})|(?P<one>.))",
    re.DOTALL,
)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "a": "\a", "\n": ""}
_CONSTANTS: Final = {
    "None": None,
    "null": None,
    "nil": None,
    "True": True,
    "true": True,
    "False": False,
    "false": False,
}
_UNDEFINED: Final = object()
_KEPT: Final = frozenset({"content", "finish_reason", "stop_sequence"})
"""What a body of a reply has even if it is null."""

_CLOSING: Final = {"{": "}", "[": "]", "(": ")"}


class UnreadableValue(ValueError):
    """A value that was cut, or that holds an object of a program, such as `[Array]` or `<function f at 0x7f>`."""


class _Token(NamedTuple):
    kind: str
    text: str
    end: int


def value_at(text: str, start: int) -> tuple[Any, int]:
    """Return the value that begins at a place in a text, and where it ends; raises UnreadableValue."""
    return _value(text, start, 0)


def _token(text: str, start: int) -> _Token:
    found = _TOKEN.match(text, start)
    if found is None or found.lastgroup is None:
        raise UnreadableValue(text[start : start + 20])
    return _Token(found.lastgroup, found.group(found.lastgroup), found.end())


def _value(text: str, start: int, depth: int) -> tuple[Any, int]:
    token = _token(text, start)
    if token.kind == "text":
        return _joined(text, token)
    if token.kind == "number":
        digits = token.text.rstrip("n")
        return (float(digits) if set(digits) & set(".eE") else int(digits)), token.end
    if token.kind == "name":
        return _named(text, token, depth)
    if depth > _MAX_DEPTH or token.text not in _CLOSING:
        raise UnreadableValue(token.text)
    members = _object if token.text == "{" else _items
    return members(text, token.end, _CLOSING[token.text], depth + 1)


def _named(text: str, token: _Token, depth: int) -> tuple[Any, int]:
    """Return a constant, or the value in a wrapper such as `Headers({…})` or `Headers {…}`."""
    if token.text in _CONSTANTS:
        return _CONSTANTS[token.text], token.end
    if token.text == "undefined":
        return _UNDEFINED, token.end
    following = _token(text, token.end)
    if following.text == "{":
        return _value(text, token.end, depth + 1)
    if following.text == "(":
        if _token(text, following.end).kind == "name" and _token(text, _token(text, following.end).end).text == "=":
            return _keywords(text, following.end, depth + 1)
        items, end = _items(text, following.end, ")", depth + 1)
        if len(items) == 1:
            return items[0], end
    raise UnreadableValue(token.text)


def _keywords(text: str, start: int, depth: int) -> tuple[dict[str, Any], int]:
    """Return the arguments of an object as Python prints it: `ChatCompletion(id='x', usage=None)`.

    A model of an SDK prints None for what a body leaves out, too.
    """
    if depth > _MAX_DEPTH:
        raise UnreadableValue(text[start : start + 20])
    found: dict[str, Any] = {}
    at = start
    while True:
        token = _token(text, at)
        if token.text == ")" and token.kind == "mark":
            return found, token.end
        equals = _token(text, token.end)
        if token.kind != "name" or equals.text != "=":
            raise UnreadableValue(token.text)
        value, at = _value(text, equals.end, depth)
        if value is not None or token.text in _KEPT:
            found[token.text] = value
        at = _after_comma(text, at, ")")


def _object(text: str, start: int, closing: str, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    at = start
    while True:
        token = _token(text, at)
        if token.text == closing and token.kind == "mark":
            return found, token.end
        if token.text == ":" and token.kind == "mark":  # a symbol of Ruby, `:model=>`
            token = _token(text, token.end)
        key = _unescaped(token.text) if token.kind == "text" else token.text
        colon = _token(text, token.end)
        if token.kind == "mark" or colon.text not in (":", "=>"):
            raise UnreadableValue(token.text)
        value, at = _value(text, colon.end, depth)
        if value is not _UNDEFINED:
            found[key] = value
        at = _after_comma(text, at, closing)


def _items(text: str, start: int, closing: str, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    at = start
    while True:
        token = _token(text, at)
        if token.text == closing and token.kind == "mark":
            return found, token.end
        value, at = _value(text, at, depth)
        found.append(value)
        at = _after_comma(text, at, closing)


def _after_comma(text: str, at: int, closing: str) -> int:
    token = _token(text, at)
    if token.text == ",":
        return token.end
    if token.text != closing:
        raise UnreadableValue(token.text)
    return at


def _joined(text: str, token: _Token) -> tuple[str, int]:
    """Return a text; Node breaks a long one into several that are joined by `+`."""
    parts, end = [_unescaped(token.text)], token.end
    while (found := _TOKEN.match(text, end)) and found.group("mark") == "+":
        token = _token(text, found.end())
        if token.kind != "text":
            raise UnreadableValue(token.text)
        parts.append(_unescaped(token.text))
        end = token.end
    return "".join(parts), end


def _unescaped(literal: str) -> str:
    quote = literal[-1]
    prefix, _, inner = literal[:-1].partition(quote)
    if "\\" not in inner or "r" in prefix.lower():
        return inner
    made = _ESCAPE.sub(_character, inner)
    if any("\ud800" <= each <= "\udfff" for each in made):
        # JSON and Node write a character beyond the first plane as two halves.
        return made.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return made.encode("latin-1", "replace").decode("utf-8", "replace") if "b" in prefix.lower() else made


def _character(found: re.Match[str]) -> str:
    digits = found["point"] or found["hex"] or found["four"] or found["eight"]
    if digits:
        return chr(min(int(digits, 16), 0x10FFFF))
    return _ESCAPED.get(found["one"], found["one"])
