"""Tool arguments as text and as an object: the wire has what the model emitted, most other models the object."""

import json
import math
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from conformance.documents import BOUNDS

_TOKEN: Final = re.compile(
    r'[ \t\n\r]*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<open>"(?:[^"\\]|\\.)*)|(?P<word>[-+.\w]+)|(?P<mark>[{}\[\],:]))',
    re.DOTALL,
)
_WHOLE: Final = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_ESCAPES: Final = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_CLOSER: Final = {"{": "}", "[": "]"}


def encode(value: Any) -> str:
    """Return a value as compact JSON: no spaces, keys in their order, no more escapes than JSON demands."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def decode(text: str) -> dict[str, Any]:
    """Return arguments as an object, best-effort: of text that was cut off, what stands before the cut.

    A string that was cut is closed, a key without a value is left out. What is no object gives an empty one.
    """
    for attempt in (str, _mended):
        try:
            value = json.loads(attempt(text), parse_constant=_refuse, parse_int=_integer, parse_float=_float)
        except (ValueError, RecursionError):
            continue
        return _scalars(value) if isinstance(value, dict) and not _is_too_deep(value) else {}
    return {}


def spelled(text: str) -> bool:
    """Tell whether the text is just what `encode` writes for the object that `decode` reads."""
    return encode(decode(text)) == text


def _scalars(value: dict[str, Any]) -> dict[str, Any]:
    """Return a value without halves of surrogate pairs, which no UTF-8 can hold."""
    text = encode(value)
    sound = text.encode(errors="replace").decode()
    return value if sound == text else json.loads(sound)


def _refuse(word: str) -> NoReturn:
    message = f"{word} is no JSON"
    raise ValueError(message)


def _integer(digits: str) -> int | float:
    """Return a whole number, as a float where 64 bits do not hold it."""
    number = int(digits)
    return number if -(2**63) <= number < 2**64 else _float(digits)


def _float(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _is_too_deep(value: Any) -> bool:
    """Tell whether a value is nested deeper than documents may be."""
    level = [value]
    for _ in range(BOUNDS.depth):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _mended(text: str) -> str:
    """Return the longest start of the text that a few closing brackets make whole."""
    last = deque(_wholes(text), maxlen=1)
    return text[: last[0][0]] + last[0][1] if last else ""


def _wholes(text: str) -> Iterator[tuple[int, str]]:
    """Yield each position up to which the text is whole but for its brackets, and what makes it whole."""
    closers: list[str] = []
    wants, position, fresh = "value", 0, False
    while (match := _TOKEN.match(text, position)) and len(closers) <= BOUNDS.depth:
        position = match.end()
        kind, piece = match.lastgroup, match[match.lastgroup or 0]
        closes, fresh = closers[-1:] == [piece] and (fresh or wants == "comma"), piece in _CLOSER
        if closes:
            closers.pop()
            wants = "comma"
        elif wants == "key" and kind == "text":
            wants = "colon"
            continue
        elif wants == "value" and kind == "open":
            yield match.start("open"), _closed(piece) + "".join(closers[::-1])
            return
        elif wants == "value" and (kind == "text" or (kind == "word" and _WHOLE.fullmatch(piece))):
            wants = "comma"
        elif wants == "value" and piece in _CLOSER:
            closers.append(_CLOSER[piece])
            wants = "key" if piece == "{" else "value"
        elif (wants, piece) in (("comma", ","), ("colon", ":")) and closers:
            wants = "key" if wants == "comma" and closers[-1] == "}" else "value"
            continue
        else:
            return
        yield position, "".join(closers[::-1])


def _closed(string: str) -> str:
    """Return a string piece that was cut off, closed before the escape that the cut may have halved."""
    end = 1
    while (slash := string.find("\\", end)) >= 0:
        escape = _ESCAPES.match(string, slash)
        if escape is None:
            string = string[:slash]
            break
        end = escape.end()
    return f'{string}"'
