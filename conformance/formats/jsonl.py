"""JSON Lines, plain or gzip, in constant memory: what one line holds is one input, and a broken line loses no other.

Lines with the same `session` that stand together are one conversation, in their order. A session that is met again
later is a conversation of its own, and says so: to wait for the end of the file would need all of it in memory.
"""

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from conformance.documents import BOUNDS, parse_json
from conformance.errors import InvalidDocument
from conformance.formats import json, sse
from conformance.formats.inputs import Input
from conformance.formats.records import DONE
from conformance.formats.streams import PIECE, Stream, open_stream

_REMEMBERED: Final = 100_000
"""How many sessions are remembered, to tell when one is met again."""
_CHUNKS: Final = "chunks"
_MET_BEFORE: Final = (
    "its session was met before: what does not stand together, or is larger than a document may be, is judged apart"
)
_BROKEN_WITHIN: Final = "lines within it cannot be read, so that it may lack exchanges"


class Line(NamedTuple):
    """One line that is not blank: its number (1-based), its bytes, and why it could not be read, if so."""

    number: int
    data: bytes
    problem: InvalidDocument | None = None


def open_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a file, plain or gzip, in constant memory; raises InvalidDocument as `open_stream` does."""
    with open_stream(path) as stream:
        yield from lines_of(stream, str(path))


def lines_of(stream: Stream, path: str, bound: int = BOUNDS.bytes) -> Iterator[Line]:
    """Yield the lines of an open file; one beyond the bound is reported and passed over, damaged gzip ends it."""
    number = 0
    while True:
        number += 1
        try:
            data = stream.readline(bound + 1)
            too_long = len(data) > bound
            while too_long and data and not data.endswith(b"\n"):
                data = stream.readline(PIECE)
        except (OSError, EOFError, zlib.error) as error:
            yield Line(number, b"", InvalidDocument(f"cannot be read beyond this line: {error}", path, number))
            return
        if too_long:
            yield Line(number, b"", InvalidDocument(f"expected at most {bound} bytes a line, got more", path, number))
        elif not data:
            return
        elif not data.isspace():
            yield Line(number, data.strip())


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the inputs of the lines of a file that is at hand as bytes."""
    pieces = enumerate(map(bytes.strip, data.split(b"\n")), 1)
    yield from read_lines((Line(number, piece) for number, piece in pieces if piece), path)


def read_lines(lines: Iterable[Line], path: str) -> Iterator[Input]:
    """Yield the inputs of lines, those that stand together and share a session, or a stream, as one."""
    group = _Group()
    for line in lines:
        for found in _inputs(line, path):
            if found.problem:
                group.broken.append(line.number)
                yield found
            elif group.takes(found, len(line.data)):
                group.add(found, len(line.data))
            else:
                yield from group.close()
                if found.session or found.kind == _CHUNKS:
                    group.add(found, len(line.data))
                else:
                    yield found
    yield from group.close()


class _Group:
    """The lines that make one input, as they come."""

    def __init__(self) -> None:
        self.parts: list[Input] = []
        self.size = 0
        self.broken: list[int] = []
        self.seen: set[str] = set()

    def takes(self, found: Input, size: int) -> bool:
        """Tell whether a line continues what the lines before it began."""
        if not self.parts or self.size + size > BOUNDS.bytes:
            return False
        last = self.parts[-1]
        same_session = bool(found.session) and found.session == last.session
        return found.kind == last.kind and (same_session or found.kind == _CHUNKS)

    def add(self, found: Input, size: int) -> None:
        self.parts.append(found)
        self.size += size

    def close(self) -> Iterator[Input]:
        """Yield the input that the lines make, if any, and begin anew."""
        parts, broken = self.parts, self.broken
        self.parts, self.size, self.broken = [], 0, []
        if not parts:
            return
        first, last = parts[0], parts[-1]
        notes = dict.fromkeys(note for part in parts for note in part.notes)
        if first.session in self.seen:
            notes[_MET_BEFORE] = None
        elif first.session and len(self.seen) < _REMEMBERED:
            self.seen.add(first.session)
        if [number for number in broken if (first.line or 0) < number < (last.line or 0)]:
            notes[_BROKEN_WITHIN] = None
        conversation = tuple(exchange for part in parts for exchange in part.conversation)
        if first.kind == _CHUNKS:
            text = "".join(str(exchange.response).removesuffix(DONE) for exchange in conversation) + DONE
            conversation = (sse.stream(text),)
        kind = "exchanges" if first.kind == "exchange" and len(parts) > 1 else first.kind
        lines = tuple(part.line for part in parts if part.line is not None)
        yield first._replace(kind=kind, conversation=conversation, lines=lines, notes=tuple(notes))


def _inputs(line: Line, path: str) -> Iterator[Input]:
    """Yield the inputs of one line; a line that cannot be read is an input with a problem."""
    if line.problem:
        yield Input(path, line.number, "jsonl", problem=line.problem)
        return
    try:
        yield from json.read_value(parse_json(line.data, path), path, line.number)
    except InvalidDocument as error:
        problem = InvalidDocument(error.message, path, line.number, error.pointer)
        yield Input(path, line.number, "jsonl", problem=problem)
