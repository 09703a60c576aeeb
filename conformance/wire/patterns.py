"""Chunks that repeat the chunk before but for one text, as nearly all chunks of a stream do.

Only the text of such a chunk is parsed, and only once if the chunk has it twice. The rest is that of the chunk before,
and so is what a schema says about it: the schemas ask nothing of these texts but to be texts.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, overload

import orjson

from conformance.documents.pointer import Place

REPEATED: Final = object()
"""Stands for a chunk that repeats another, until its value is needed."""

_PADDING: Final = ("obfuscation", "p")
"""The keys of a chunk under which OpenAI and Mistral add characters, so that nobody can tell texts by their length."""


class Piece(NamedTuple):
    """A text in a delta: its place there, the run to which it was added, and the text."""

    place: Place
    run: list[Any]
    text: str


class Continued(NamedTuple):
    """What a delta continues: its one text, where it has it, and what else it repeats, each with its run.

    Some providers send a text twice in a chunk, as `reasoning` and in `reasoning_details`. Without a text, a chunk only
    keeps the connection open.
    """

    text: str
    pieces: Sequence[Piece]
    constant: Sequence[tuple[list[str], str]]


class Pattern(NamedTuple):
    """The data of an event around its text, and what the text continues.

    `head` precedes the text, without its quote, and `tail` follows it. `between`: what separates its places, if it has
    several. `padding`: what separates the text from padding; empty if there is none.
    """

    head: str
    between: tuple[str, ...]
    padding: str
    tail: str
    continued: Continued

    def take(self, data: Sequence[str], at: int, end: int) -> int:
        """Add the texts of the events from `at` to `end` that have this pattern; return the number of the next one."""
        _, pieces, constant = self.continued
        texts = self._texts(data, at, end) if pieces else self._same(data, at, end)
        for piece in pieces:
            piece.run.extend(texts)
        for run, value in constant:
            run.extend([value] * len(texts))
        return at + len(texts)

    def _texts(self, data: Sequence[str], at: int, end: int) -> list[str]:
        head, between, padding, tail, _ = self
        begin, stop, is_more = len(head), -len(tail), bool(between or padding)
        found: list[str] = []
        for number in range(at, end):
            text = data[number]
            if not text.startswith(head) or not text.endswith(tail):
                break
            quoted = self._first(text[begin:stop]) if is_more else text[begin:stop]
            try:
                value = orjson.loads(quoted)
            except orjson.JSONDecodeError:
                break
            # Between head and tail may also be null, or a number.
            if type(value) is not str:
                break
            found.append(value)
        return found

    def _first(self, middle: str) -> str:
        """Return the text, with its quotes, from what is between head and tail; empty if it has not the pattern."""
        if self.padding:
            quoted, _, padding = middle.partition(self.padding)
            return quoted if type(_parsed(padding)) is str else ""
        quoted = middle[: (len(middle) - sum(map(len, self.between))) // (len(self.between) + 1)]
        return quoted if quoted.join(("", *self.between, "")) == middle else ""

    def _same(self, data: Sequence[str], at: int, end: int) -> list[str]:
        """Return nothing for each event that only repeats another."""
        return [""] * (next((number for number in range(at, end) if data[number] != self.head), end) - at)


def find_pattern(data: str, following: str, chunk: dict[str, Any], continued: Continued) -> Pattern | None:
    """Return the pattern of an event's data that the following event may have, too; None if it has not.

    There is none either if it is not obvious where in the data the text is.
    """
    text, pieces, _ = continued
    if not pieces:
        return Pattern(data, (), "", "", continued) if data == following else None
    choice = chunk["choices"][0]
    holders = [_holder(choice["delta"], piece.place) for piece in pieces]
    if choice.get("text") == text:
        holders.append((choice, "text"))
    # From the right: the id and the model come before the text in a chunk, and one of them may equal it.
    parts = data.rsplit(_quoted(text), len(holders))
    if len(parts) != len(holders) + 1:
        return None
    head, *between, tail = parts
    # To find out whether the data around it is the chunk around it, the text is made longer in both.
    other, padding = _quoted(f"{text}."), ""
    example = other.join(parts)
    for key in _PADDING:
        if type(chunk.get(key)) is str:
            padding, _, tail = tail.rpartition(_quoted(chunk[key]))
            example = "".join([head, other, padding, _quoted(f"{chunk[key]}."), tail])
            holders.append((chunk, key))
    fits = following.startswith(head) and following.endswith(tail) and not (between and padding)
    if not fits or not _are_places(example, chunk, holders):
        return None
    return Pattern(head, tuple(between), padding, tail, continued)


def _holder(delta: dict[str, Any], place: Place) -> tuple[Any, Any]:
    """Return the object or list in a delta that holds a place, and the last token of the place."""
    holder: Any = delta
    for token in place[:-1]:
        holder = holder[token]
    return holder, place[-1]


def _are_places(example: str, chunk: dict[str, Any], holders: Sequence[tuple[Any, Any]]) -> bool:
    """Return whether data with longer texts in some places are the chunk with just these texts longer."""
    other = _parsed(example)
    # The chunk is changed and restored, because a copy of it would cost more than all other checks.
    for holder, key in holders:
        holder[key] += "."
    are_places = bool(other == chunk)
    for holder, key in holders:
        holder[key] = holder[key][:-1]
    return are_places


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def _parsed(data: str) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None


class Chunks(Sequence[dict[str, Any] | None]):
    """The chunks of a stream, one per event, None if the data is not a JSON object; repeated ones are parsed on demand.

    `special`: the numbers of the objects that do not repeat another. `objects`: how many chunks are JSON objects.
    """

    __slots__ = ("_data", "_parsed", "_values", "objects", "special")

    def __init__(self, data: Sequence[str], values: list[Any]) -> None:
        self._data = data
        self._values = values
        self._parsed = [number for number, value in enumerate(values) if value is not REPEATED]
        self.special = [number for number in self._parsed if values[number] is not None]
        self.objects = len(values) - len(self._parsed) + len(self.special)

    def special_objects(self) -> list[dict[str, Any]]:
        """Return the objects that do not repeat another."""
        return [self._values[number] for number in self.special]

    def repeating(self, number: int) -> range:
        """Return the numbers of the chunks that repeat the special one with this number."""
        after = bisect_right(self._parsed, number)
        return range(number + 1, self._parsed[after] if after < len(self._parsed) else len(self._values))

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, number: int) -> dict[str, Any] | None: ...
    @overload
    def __getitem__(self, number: slice) -> list[dict[str, Any] | None]: ...
    def __getitem__(self, number: int | slice) -> Any:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        value = self._values[number]
        if value is REPEATED:
            value = self._values[number] = orjson.loads(self._data[number])
        return value

    def __iter__(self) -> Iterator[dict[str, Any] | None]:
        return iter(self[:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Chunks) and self[:] == other[:]

    __hash__ = None  # type: ignore[assignment]  # like the lists in it
