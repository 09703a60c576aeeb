"""Tool arguments as text and as an object: the wire has the text that the model wrote, most other models the object."""

import json
import math
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NoReturn

import orjson

from conformance.documents import BOUNDS
from conformance.documents.pointer import Place
from conformance.wire.losses import Losses

_TOKEN: Final = re.compile(
    r'[ \t\n\r]*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<open>"(?:[^"\\]|\\.)*)|(?P<word>[-+.\w]+)|(?P<mark>[{}\[\],:]))',
    re.DOTALL,
)
_WHOLE: Final = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_ESCAPES: Final = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_CLOSER: Final = {"{": "}", "[": "]"}


def encode(value: Any) -> str:
    """Return a value as compact JSON: no spaces, keys in their order, only the escapes that JSON requires."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def decode(text: str) -> dict[str, Any]:
    """Return arguments as an object, as far as possible: if the text was cut off, what comes before the cut.

    A string that was cut is closed, a key without a value is left out. Text that is not an object gives an empty one.
    """
    for attempt in (str, _repaired):
        try:
            value = json.loads(attempt(text), parse_constant=_refuse, parse_int=_integer, parse_float=_float)
        except (ValueError, RecursionError):
            continue
        return _without_surrogates(value) if isinstance(value, dict) and not _is_too_deep(value) else {}
    return {}


def read_json(text: str) -> Any:
    """Return the value of a JSON text, with every digit of its whole numbers; raises ValueError if it is not JSON.

    Repeated keys and lone surrogates are JSON, and clients read them.
    """
    return json.loads(text, parse_constant=_refuse, parse_float=_float)


def is_compact(text: str) -> bool:
    """Return whether the text is exactly what `encode` writes for the object that `decode` reads."""
    return encode(decode(text)) == text


def parse_call(
    call: Mapping[str, Any], place: Place, losses: Losses, extra_reason: str, write: Callable[[Any], str]
) -> dict[str, Any]:
    """Return the arguments of a call as the object that a dialect holds, and note the losses of the call.

    `extra_reason` is why `extra_content` is lost; `write` is how the dialect writes an object as text.
    """
    if "extra_content" in call:
        losses.add((*place, "extra_content"), extra_reason)
    text = call["function"]["arguments"]
    at = (*place, "function", "arguments")
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        losses.add(at, "not the text of a JSON object; replaced by an empty one")
        return {}
    if write(value) != text:
        losses.add(at, "the text is written again, so its bytes change")
    return value


def _without_surrogates(value: dict[str, Any]) -> dict[str, Any]:
    """Return a value without lone surrogates, which UTF-8 cannot hold."""
    text = encode(value)
    clean = text.encode(errors="replace").decode()
    return value if clean == text else json.loads(clean)


def _refuse(word: str) -> NoReturn:
    message = f"{word} is not JSON"
    raise ValueError(message)


def _integer(digits: str) -> int | float:
    """Return a whole number, as a float if 64 bits cannot hold it."""
    number = int(digits)
    return number if -(2**63) <= number < 2**64 else _float(digits)


def _float(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _is_too_deep(value: Any) -> bool:
    """Return whether a value is nested deeper than documents may be."""
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


def _repaired(text: str) -> str:
    """Return the longest start of the text that closing brackets can complete."""
    last = deque(_completions(text), maxlen=1)
    return text[: last[0][0]] + last[0][1] if last else ""


def _completions(text: str) -> Iterator[tuple[int, str]]:
    """Yield each position up to which the text only lacks closing brackets, and the text that completes it."""
    closers: list[str] = []
    expected, position, fresh = "value", 0, False
    while (match := _TOKEN.match(text, position)) and len(closers) <= BOUNDS.depth:
        position = match.end()
        kind, lexeme = match.lastgroup, match[match.lastgroup or 0]
        closes, fresh = closers[-1:] == [lexeme] and (fresh or expected == "comma"), lexeme in _CLOSER
        if closes:
            closers.pop()
            expected = "comma"
        elif expected == "key" and kind == "text":
            expected = "colon"
            continue
        elif expected == "value" and kind == "open":
            yield match.start("open"), _closed(lexeme) + "".join(closers[::-1])
            return
        elif expected == "value" and (kind == "text" or (kind == "word" and _WHOLE.fullmatch(lexeme))):
            expected = "comma"
        elif expected == "value" and lexeme in _CLOSER:
            closers.append(_CLOSER[lexeme])
            expected = "key" if lexeme == "{" else "value"
        elif (expected, lexeme) in (("comma", ","), ("colon", ":")) and closers:
            expected = "key" if expected == "comma" and closers[-1] == "}" else "value"
            continue
        else:
            return
        yield position, "".join(closers[::-1])


def _closed(string: str) -> str:
    """Return a string that was cut off, closed before an escape that the cut may have halved."""
    end = 1
    while (slash := string.find("\\", end)) >= 0:
        escape = _ESCAPES.match(string, slash)
        if escape is None:
            string = string[:slash]
            break
        end = escape.end()
    return f'{string}"'
