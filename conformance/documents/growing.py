"""JSON texts of which one repeats the beginning of another, as the requests of an agent do: only what is new is parsed.

The list that grows is found by its key. If a text is that of an earlier one up to the end of some values of this list,
those values are taken from there, the very same objects, and the text without them is parsed strictly.
"""

import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson

from conformance.documents.bounds import BOUNDS
from conformance.documents.json_text import parse_json
from conformance.errors import InvalidDocument

MAX_TEXTS: Final = 4
MAX_BYTES: Final = 8 * 1024 * 1024
"""How many texts are remembered, those used last, and how many bytes they may have together."""

_LIST: Final = re.compile(rb'"(?:messages|input|contents)"\s*:\s*\[')
_LEAST: Final = 2048
"""How many bytes of the list have to be the same: less is parsed sooner than compared."""
_CANDIDATES: Final = 6
_HEAD: Final = 1 << 16
"""Where to look for the list: so many of its keys, and so many bytes."""
_SPACE: Final = b" \t\r\n"


class _Growing(NamedTuple):
    """The list that may grow: its keys, where it begins, and its values."""

    keys: tuple[str, ...]
    begin: int
    listed: list[Any]


@dataclass(slots=True)
class _Text:
    """A text that was parsed: its bytes, its value, and the list that may grow, once it was looked for."""

    raw: bytes
    value: Any
    growing: _Growing | None = None
    is_searched: bool = False

    def found(self) -> _Growing | None:
        """Return the list that may grow; None if there is none."""
        if not self.is_searched:
            self.growing, self.is_searched = _search(self.raw, self.value), True
        return self.growing


class GrowingTexts:
    """Parses texts, and remembers the last ones."""

    def __init__(self, texts: int = MAX_TEXTS, size: int = MAX_BYTES) -> None:
        """Begin without any text."""
        self._most, self._most_bytes = texts, size
        self._texts: OrderedDict[int, _Text] = OrderedDict()
        self._next = 0

    def __len__(self) -> int:
        """Return how many texts are remembered."""
        return len(self._texts)

    def parse(self, data: bytes, file: str = "<input>") -> Any:
        """Return the value of a JSON text; raises InvalidDocument as `parse_json` does."""
        for number in reversed(self._texts):
            text = self._texts[number]
            same = common_bytes(text.raw, data)
            growing = text.found() if same > _LEAST else None
            if growing is None or same < growing.begin + _LEAST:
                continue
            value = _continued(text, growing, data, same)
            if value is not None:
                del self._texts[number]
                own = growing._replace(listed=_at(value, growing.keys))
                self._remember(_Text(data, value, own, is_searched=True))
                return value
        value = parse_json(data, file)
        if type(value) is dict and len(data) > _LEAST:
            self._remember(_Text(data, value))
        return value

    def _remember(self, text: _Text) -> None:
        self._texts[self._next] = text
        self._next += 1
        while len(self._texts) > 1 and (
            len(self._texts) > self._most or sum(len(each.raw) for each in self._texts.values()) > self._most_bytes
        ):
            self._texts.popitem(last=False)


def common_bytes(one: bytes, other: bytes) -> int:
    """Return how many bytes two texts have in common at the beginning."""
    low, high = 0, min(len(one), len(other))
    if one[:_LEAST] != other[:_LEAST]:
        # Most texts are those of another session: only their beginnings are looked at.
        high = min(high, _LEAST)
    while low < high:
        middle = (low + high + 1) // 2
        if other.startswith(one[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def _search(raw: bytes, value: Any) -> _Growing | None:
    """Return the list that may grow: one at the top, or in an object there; None if there is none."""
    for number, found in enumerate(_LIST.finditer(raw, 0, _HEAD)):
        if number == _CANDIDATES:
            break
        begin = found.end()
        for depth in (1, 2):
            # Cut off after the bracket and closed, the text is an object only if the bracket opens this very list.
            try:
                head = orjson.loads(raw[:begin] + b"]" + b"}" * depth)
            except orjson.JSONDecodeError:
                continue
            keys = _last_keys(head, depth)
            listed = _at(value, keys)
            return _Growing(keys, begin, listed) if listed else None
    return None


def _at(value: Any, keys: tuple[str, ...]) -> list[Any]:
    for key in keys:
        value = value[key]
    listed: list[Any] = value
    return listed


def _last_keys(head: dict[str, Any], depth: int) -> tuple[str, ...]:
    first = list(head)[-1]
    return (first,) if depth == 1 else (first, list(head[first])[-1])


def _continued(text: _Text, growing: _Growing, data: bytes, same: int) -> Any:
    """Return the value of a text that repeats an earlier one; None if it cannot be had so.

    Both are the same up to the end of a value of the list. That this is such an end follows from the earlier text: its
    rest, put directly after the bracket, is its value without the list. So the rest begins on the level of the list and
    outside of strings: what is read from inside a string has another number of quotes, and from another level, another
    number of brackets.
    """
    rest, added = text.raw[same:].lstrip(_SPACE), _added(data, same)
    if len(data) > BOUNDS.bytes or not rest.startswith(b"]") or not added:
        return None
    head = text.raw[: growing.begin]
    try:
        before = orjson.loads(head + rest)
        value = parse_json(head + added)
    except (orjson.JSONDecodeError, InvalidDocument):
        # What is wrong is reported with its line, for which all of the text is read.
        return None
    if not _is_without_list(before, text.value, growing.keys):
        return None
    _at(value, growing.keys)[:0] = growing.listed
    return value


def _added(data: bytes, begin: int) -> bytes:
    """Return what follows the value of a list that ends before a position: values, or its bracket; else nothing."""
    added = data[begin:].lstrip(_SPACE)
    if not added.startswith(b","):
        return added if added.startswith(b"]") else b""
    added = added[1:].lstrip(_SPACE)
    return b"" if added.startswith(b"]") else added


def _is_without_list(value: Any, whole: Any, keys: tuple[str, ...]) -> bool:
    """Return whether a value is another one whose list is empty."""
    key, *deeper = keys
    if list(value) != list(whole):
        return False
    if any(value[each] != whole[each] for each in value if each != key):
        return False
    return _is_without_list(value[key], whole[key], tuple(deeper)) if deeper else value[key] == []
