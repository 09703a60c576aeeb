"""Event streams by the HTML standard: read as a whole or as the bytes arrive, and rendered.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream

A line ends with LF, CR or CRLF, and a blank line dispatches an event. Text after the last blank line is never an
event: it is the *tail*, which shows that a stream was cut. Nothing a server sends raises an error here.
"""

import codecs
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

_UNNAMED: Final = "message"
_SIMPLE: Final = "data: "
_NAMED: Final = "event: "
_BETWEEN: Final = "\n\ndata: "
_REGULAR: Final = re.compile(r"^(?:event: (.+)\n)?data: (.*)\n\n", re.MULTILINE)
"""An event with one line of data, and perhaps a name."""
_RETRY_DIGITS: Final = 18
_LINE_ENDS: Final = ("\r", "\r\n", "\n\n", "\n\r", "\r\r")
_LINE_END_BYTES: Final = tuple(end.encode() for end in _LINE_ENDS)


class StreamBounds(NamedTuple):
    """How much of a stream is read: characters per event (with its comments), and events."""

    length: int = 16 * 2**20
    events: int = 500_000


BOUNDS: Final = StreamBounds()


class Event(NamedTuple):
    """A dispatched event: its data lines joined by LF, its name (`message` by default), and the last event id."""

    data: str
    event: str = _UNNAMED
    id: str = ""


class Reading(NamedTuple):
    r"""The content of an event stream, without its text.

    `data`: the data of each event, its lines joined by LF. `names`: the names of named events, by event number.
    `ids`: the last event id, by the number of the event at which it changes. `comments`: the number of comment lines.
    `tail`: the raw text after the last blank line; empty if it holds only comments. `ignored`: lines that the standard
    ignores because they begin with no field name it defines. `retry`: the last reconnection time, in milliseconds.
    `invalid_utf8`: the number of U+FFFD that replace bytes that are not UTF-8; 0 for text, where it is unknown.
    `bound`: the bound that was exceeded, so that the rest was not read and the tail is empty; empty if all was read.
    """

    data: tuple[str, ...]
    names: Mapping[int, str]
    ids: Mapping[int, str]
    comments: int
    tail: str
    ignored: tuple[str, ...]
    retry: int | None
    invalid_utf8: int
    bound: str

    @property
    def events(self) -> tuple[Event, ...]:
        """The events, created on demand: assembling a stream does not need them as objects."""
        return tuple(_events(self.data, self.names, self.ids, 0, ""))


def read(text: str | bytes, bounds: StreamBounds = BOUNDS) -> Reading:
    """Read a whole stream; bytes are decoded as the standard requires."""
    if isinstance(text, bytes):
        decoder = Decoder(bounds)
        decoder.feed(text)
        return decoder.close()
    reader = _EventReader(bounds)
    text = text.removeprefix("\ufeff")
    end = _end(text, 0, _LINE_ENDS)
    reader.take(text[:end])
    return reader.close(text[end:])


class Decoder:
    """Reads a stream as its bytes arrive; however they are split, the events are those of `read`.

    It keeps the data of all events for the reading, and at most about four times `bounds.length` bytes of an
    incomplete event. Once a bound is exceeded, `feed` returns nothing and the reading names the bound: a client of a
    faulty server must not fail in its reader.
    """

    def __init__(self, bounds: StreamBounds = BOUNDS) -> None:
        self._reader = _EventReader(bounds)
        self._buffer = bytearray()
        self._at_start = True
        self._after_cr = False

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that are complete with these bytes."""
        if self._reader.is_full():
            return []
        if self._after_cr and data:
            # The CR has already ended its line; a LF after it belongs to the same line end.
            data = data.removeprefix(b"\n")
            self._after_cr = False
        buffer, reader = self._buffer, self._reader
        known, last_id = len(reader.data), reader.id
        # One character back, since a blank line may begin in what came before.
        start = max(0, len(buffer) - 1)
        buffer += data
        end = _end(buffer, start, _LINE_END_BYTES)
        if end:
            self._after_cr = end == len(buffer) and buffer.endswith(b"\r")
            reader.take(self._text(bytes(buffer[:end])))
            del buffer[:end]
        # The bound is in characters, of up to four bytes each in UTF-8.
        if len(buffer) > 4 * reader.bounds.length + 4:
            reader.exceed_length()
        if reader.is_full():
            buffer.clear()
        return _events(reader.data, reader.names, reader.ids, known, last_id)

    def close(self) -> Reading:
        """Return the reading of everything that was fed."""
        # A character that the end of the data splits is dropped; it is not invalid UTF-8.
        _, length = codecs.utf_8_decode(self._buffer, "replace")
        tail = self._text(bytes(self._buffer[:length]))
        self._buffer.clear()
        return self._reader.close(tail)

    def _text(self, data: bytes) -> str:
        """Decode whole lines: a line end is never inside a UTF-8 sequence, so none is split between two calls."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode(errors="replace")
            self._reader.invalid_utf8 += text.count("\ufffd") - data.count(b"\xef\xbf\xbd")
        if self._at_start:
            text = text.removeprefix("\ufeff")
        self._at_start = False
        return text


def render(items: Iterable[Any]) -> str:
    """Return the text of a stream: a str is used as it is, any other value becomes the data of one event."""
    return "".join(item if isinstance(item, str) else f"data: {orjson.dumps(item).decode()}\n\n" for item in items)


class _EventReader:
    """The state of the standard's parser between two blank lines."""

    __slots__ = ("bound", "bounds", "comments", "data", "id", "ids", "ignored", "invalid_utf8", "names", "retry")

    def __init__(self, bounds: StreamBounds) -> None:
        self.bounds = bounds
        self.data: list[str] = []
        self.names: dict[int, str] = {}
        self.ids: dict[int, str] = {}
        self.comments = 0
        self.ignored: list[str] = []
        self.retry: int | None = None
        self.invalid_utf8 = 0
        self.bound = ""
        self.id = ""

    def take(self, text: str) -> None:
        """Read text that ends with a blank line."""
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if text.startswith(_NAMED) and self._take_regular(text):
            return
        if not text.startswith(_SIMPLE):
            # Many streams begin with comments and are simple after that.
            head, between, text = text.partition(_BETWEEN)
            self._take_blocks(head)
            if not between or self.is_full():
                return
            text = _SIMPLE + text
        if not self._take_simple(text):
            self._take_blocks(text)

    def _take_blocks(self, text: str) -> None:
        length, simple = self.bounds.length, len(_SIMPLE)
        for block in text.split("\n\n"):
            if len(block) > length:
                self.exceed_length()
            elif block.startswith(_SIMPLE) and "\n" not in block:
                self._dispatch(block[simple:], _UNNAMED)
            elif block:
                self._read_block(block)
            if self.is_full():
                return

    def _take_simple(self, text: str) -> bool:
        r"""Read text in which every event is one line `data: …` and every line end a LF; return False for other text.

        Nearly all providers write this form, and reading it runs no Python code per event. The text has this form if
        no line end remains after the split.
        """
        if len(text) > self.bounds.length:
            return False
        found = text[len(_SIMPLE) : -2].split(_BETWEEN)
        if "\n" in "".join(found) or len(self.data) + len(found) > self.bounds.events:
            return False
        self.data += found
        return True

    def _take_regular(self, text: str) -> bool:
        """Do the same for text in which events have a name, too, in a line `event: …` before their data."""
        found = _REGULAR.findall(text) if len(text) <= self.bounds.length else []
        number = len(self.data)
        # Beyond a bound, the slow way takes what is within it.
        if not found or number + len(found) > self.bounds.events:
            return False
        every, data = zip(*found, strict=True)
        names = {at: name for at, name in enumerate(every, number) if name}
        around = len(data) * len("data: \n\n") + len(names) * len("event: \n")
        # There is nothing else if these are all characters.
        if sum(map(len, every)) + sum(map(len, data)) + around != len(text) or _UNNAMED in names.values():
            return False
        self.data += data
        self.names.update(names)
        return True

    def _read_block(self, block: str) -> None:
        data: list[str] = []
        name = ""
        for line in block.split("\n"):
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                data.append(value)
            elif field == "event":
                name = value
            elif line:
                self._note_line(line, field, value)
        if data:
            self._dispatch("\n".join(data), name or _UNNAMED)

    def _note_line(self, line: str, field: str, value: str) -> None:
        if not field:
            self.comments += 1
        elif field == "id":
            # The standard ignores an id with a null character, and a retry that is not all digits.
            if "\0" not in value and value != self.id:
                self.id = self.ids[len(self.data)] = value
        elif field == "retry":
            is_number = value.isascii() and value.isdecimal() and len(value) <= _RETRY_DIGITS
            self.retry = int(value) if is_number else self.retry
        else:
            self.ignored.append(line)

    def _dispatch(self, data: str, name: str) -> None:
        number = len(self.data)
        if number == self.bounds.events:
            self.bound = f"more than {number} events"
            return
        self.data.append(data)
        if name != _UNNAMED:
            self.names[number] = name

    def is_full(self) -> bool:
        """Return whether a bound was exceeded, so that nothing more is read."""
        return bool(self.bound)

    def exceed_length(self) -> None:
        """Record that an event exceeds the length bound."""
        self.bound = self.bound or f"an event of more than {self.bounds.length} characters"

    def close(self, tail: str) -> Reading:
        """Return the reading, given the text after the last blank line."""
        tail = tail.lstrip("\r\n")
        if len(tail) > self.bounds.length:
            self.exceed_length()
        lines = [line for line in tail.replace("\r", "\n").split("\n") if line]
        comments = sum(line.startswith(":") for line in lines)
        self.comments += 0 if self.bound else comments
        if self.bound or comments == len(lines):
            tail = ""
        return Reading(
            tuple(self.data), self.names, self.ids, self.comments, tail, tuple(self.ignored), self.retry,
            self.invalid_utf8, self.bound,
        )  # fmt: skip


def _events(
    data: Sequence[str], names: Mapping[int, str], ids: Mapping[int, str], start: int, last_id: str
) -> list[Event]:
    """Return the events from number `start`; `last_id` is the last event id before them."""
    events = []
    for number in range(start, len(data)):
        last_id = ids.get(number, last_id)
        events.append(Event(data[number], names.get(number, _UNNAMED), last_id))
    return events


def _end(text: Any, start: int, ends: Any) -> int:
    """Return the offset at which the last blank line after `start` ends; 0 if there is none.

    A blank line is a line end directly after a line end, and any two line ends contain LF LF, LF CR or CR CR.
    """
    cr, crlf, *pairs = ends
    searched = pairs if text.find(cr, start) >= 0 else pairs[:1]
    at = max(text.rfind(pair, start) for pair in searched)
    if at < 0:
        return 0
    return int(at) + (3 if text[at + 1 : at + 3] == crlf else 2)
