"""Chunks that repeat the chunk before but for one text, as nearly all chunks of a stream do.

Only the text of such a chunk is parsed. The rest is that of the chunk before, and so is what a schema says about it:
the schemas ask nothing of these texts but to be texts.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, overload

import orjson

from conformance.documents.pointer import Place

REPEATED: Final = object()
"""Stands for a chunk that repeats another, until its value is needed."""

_PADDING: Final = "obfuscation"
"""The key of a chunk under which OpenAI adds random characters, so that nobody can tell texts by their length."""


class Continued(NamedTuple):
    """What a delta continues: the place of its one text in the delta, where the text goes, and what else it repeats."""

    place: Place
    texts: list[str]
    constant: Sequence[tuple[list[str], str]]


class Pattern(NamedTuple):
    """The data of an event before and after its text, each with the quote, and what the text continues.

    `between` is what separates the text from padding; it is empty if there is none.
    """

    head: str
    between: str
    tail: str
    continued: Continued

    def take(self, data: Sequence[str], at: int) -> int:
        """Add the texts of the events from `at` on that have this pattern; return the number of the first without."""
        head, between, tail, (_, texts, constant) = self
        begin, end = len(head) - 1, 1 - len(tail)
        for number in range(at, len(data)):
            text = data[number]
            if not text.startswith(head) or not text.endswith(tail):
                return number
            try:
                if between:
                    middle = text.find(between, begin + 1)
                    orjson.loads(text[middle + len(between) - 1 : end])
                    texts.append(orjson.loads(text[begin : middle + 1]))
                else:
                    texts.append(orjson.loads(text[begin:end]))
            except orjson.JSONDecodeError:
                return number
            for repeated, value in constant:
                repeated.append(value)
        return len(data)


def find_pattern(data: str, following: str, chunk: dict[str, Any], continued: Continued) -> Pattern | None:
    """Return the pattern of an event's data that the following event has, too; None if there is none.

    There is none either if it is not obvious where in the data the text is.
    """
    holder: Any = chunk["choices"][0]["delta"]
    *parents, last = continued.place
    for token in parents:
        holder = holder[token]
    text, padding = holder[last], chunk.get(_PADDING)
    if type(padding) is str:
        before, tail = _around(data, padding)
        head, between = _around(before, text)
        example = f"{head}{_changed(text)}{between}{_changed(padding)}{tail}"
    else:
        (head, tail), between = _around(data, text), ""
        example = f"{head}{_changed(text)}{tail}"
    if not following.startswith(head) or not following.endswith(tail):
        return None
    other = _parsed(example)
    # These are the places if other texts there change these values and nothing else.
    if type(padding) is str:
        chunk[_PADDING] = f"{padding}."
    holder[last] = f"{text}."
    are_places = other == chunk
    holder[last] = text
    if type(padding) is str:
        chunk[_PADDING] = padding
    return Pattern(head, between, tail, continued) if are_places else None


def _around(data: str, text: str) -> tuple[str, str]:
    """Return what precedes and what follows a text where it occurs last, each with the quote."""
    before, _, after = data.rpartition(orjson.dumps(text).decode())
    return f'{before}"', f'"{after}'


def _changed(text: str) -> str:
    """Return a longer text as it is between quotes."""
    return orjson.dumps(f"{text}.").decode()[1:-1]


def _parsed(data: str) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None


class Chunks(Sequence[dict[str, Any] | None]):
    """The chunks of a stream, one per event, None if the data is not a JSON object; repeated ones are parsed on demand.

    `special`: the numbers of the chunks that do not repeat another. `objects`: how many of them are JSON objects.
    """

    __slots__ = ("_data", "_values", "objects", "special")

    def __init__(self, data: Sequence[str], values: list[Any]) -> None:
        self._data = data
        self._values = values
        parsed = [number for number, value in enumerate(values) if value is not REPEATED]
        self.special = [number for number in parsed if values[number] is not None]
        self.objects = len(values) - len(parsed) + len(self.special)

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
