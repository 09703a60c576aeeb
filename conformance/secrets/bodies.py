"""Bodies of replies without secrets: JSON, event streams and text.

The deltas of a stream are put together before they are searched, since a secret may begin in one and end in another.
Then each delta is written without its part of the secret. An event that holds no part of one keeps its bytes.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.secrets import REDACTED, STAYS, Scrubber, Unscrubbable, shapes

Span: TypeAlias = tuple[int, int]

_Place: TypeAlias = tuple[str, ...]
_Find: TypeAlias = Callable[[_Place, str], list[Span]]
"""Returns where secrets are in the text at a place."""

_STREAM: Final = re.compile(r"^\ufeff?data:", re.MULTILINE)
_BETWEEN_EVENTS: Final = re.compile(r"((?:\r\n|\n|\r(?!\n)){2,})")
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


def scrub(scrubber: Scrubber, body: bytes, asked: str = "") -> bytes:
    """Return the body of a reply without the secrets of a run, and without what looks like a key.

    What looks like a key and is in `asked`, the text of the request, is part of the test and stays. Raises Unscrubbable
    if a secret cannot be removed.
    """

    def secrets_and_keys(place: _Place, text: str) -> list[Span]:
        keys = () if shapes.OPAQUE.intersection(place[-1:]) else shapes.spans(text)
        return _merged([*scrubber.spans(text), *(span for span in keys if text[slice(*span)] not in asked)])

    def secrets(_: _Place, text: str) -> list[Span]:
        return scrubber.spans(text)

    scrubber.check_bytes(body)
    text = body.decode("utf-8", "surrogateescape")
    found = scrubber.text(_scrubbed(text, secrets_and_keys))
    if found == text:
        return body
    if _scrubbed(found, secrets) != found:
        raise Unscrubbable(STAYS)
    return found.encode("utf-8", "surrogateescape")


def _scrubbed(text: str, find: _Find) -> str:
    """Return the text of a body without what `find` finds in its strings."""
    blocks = _BETWEEN_EVENTS.split(text) if _STREAM.search(text) else [text]
    documents = [_Document(block, is_event=len(blocks) > 1) for block in blocks[::2]]
    strings: dict[_Place, list[_String]] = {}
    for document in documents:
        for place, string in document.strings():
            strings.setdefault(place, []).append(string)
    for place, group in strings.items():
        _replace(place, group, find)
    blocks[::2] = [document.render() for document in documents]
    return "".join(blocks)


class _Document:
    """An event of a stream, or a whole body: its JSON value, or its text if that is not JSON."""

    def __init__(self, block: str, *, is_event: bool) -> None:
        self._block, self._is_event = block, is_event
        self._source = "\n".join(_data_lines(block)) if is_event else block
        self.changed = False
        try:
            self._value = [json.loads(self._source, object_pairs_hook=_members)]
            self._is_json = True
        except (ValueError, RecursionError):
            self._value, self._is_json = [self._source], False

    def strings(self) -> "Iterator[tuple[_Place, _String]]":
        """Yield every string of the value with its place; an element of a list is named by its member `index`."""
        open_values: list[tuple[_Place, Any]] = [((), self._value)]
        while open_values:
            place, holder = open_values.pop()
            for key, value in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
                name = value["index"] if isinstance(value, dict) and type(value.get("index")) is int else key
                if isinstance(value, str):
                    yield (*place, str(name)), _String(self, holder, key)
                elif isinstance(value, (dict, list)):
                    open_values.append(((*place, str(name)), value))

    def render(self) -> str:
        """Return the block, with the changed value if it has changed."""
        if not self.changed:
            return self._block
        data = _dumped(self._value[0], self._source) if self._is_json else self._value[0]
        if not self._is_event:
            return str(data)
        lines = [line for line in _LINE_END.split(self._block) if line and not _is_data(line)]
        end = _LINE_END.search(self._block)
        return (end[0] if end else "\n").join([*lines, *(f"data: {line}" for line in data.split("\n"))])


class _String(NamedTuple):
    """A string in a document, and what holds it."""

    document: _Document
    holder: Any
    key: Any

    @property
    def text(self) -> str:
        """The string itself."""
        return str(self.holder[self.key])

    def set(self, text: str) -> None:
        """Replace the string."""
        self.holder[self.key] = text
        self.document.changed = True


def _replace(place: _Place, strings: Sequence[_String], find: _Find) -> None:
    """Replace secrets in the strings at one place; those of several events are searched as one text.

    Strings that are all the same, such as the id of a stream, are not a text in pieces.
    """
    texts = [string.text for string in strings]
    if len(strings) > 1 and len(set(texts)) == 1:
        for string in strings:
            _replace(place, [string], find)
        return
    starts = [0, *accumulate(map(len, texts))]
    for start, end in reversed(find(place, "".join(texts))):
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
        for number in range(last, first - 1, -1):
            text, offset = texts[number], starts[number]
            cut = REDACTED if number == first else ""
            texts[number] = text[: max(0, start - offset)] + cut + text[end - offset :]
    for string, text in zip(strings, texts, strict=True):
        if text != string.text:
            string.set(text)


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Return spans in order, with those that overlap as one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; one with a name twice is not JSON here, since a value of it would not be searched."""
    members = dict(pairs)
    if len(members) < len(pairs):
        message = "a name occurs twice"
        raise ValueError(message)
    return members


def _dumped(value: Any, source: str) -> str:
    # A lone surrogate can only be written as the escape that it was.
    return json.dumps(value, ensure_ascii="\\ud" in source.lower(), separators=(",", ":"))


def _data_lines(block: str) -> Iterator[str]:
    for line in _LINE_END.split(block):
        if _is_data(line):
            yield line.removeprefix("\ufeff")[len("data:") :].removeprefix(" ")


def _is_data(line: str) -> bool:
    return line.removeprefix("\ufeff").startswith("data:")
