"""JSON Lines, plain or gzip, in constant memory: each line is one input, and a broken line does not affect the others.

Adjacent lines with the same `session` are one conversation, in their order. If a session occurs again later, that is
another conversation with a note: to wait for the end of the file would need all of it in memory.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from conformance.documents import BOUNDS, JSON, GrowingTexts, parse_json
from conformance.errors import InvalidDocument
from conformance.formats import json, sessions, sse
from conformance.formats.compression import BLOCK, OpenFile
from conformance.formats.inputs import Input
from conformance.formats.printed_calls import KIND as PRINTED
from conformance.formats.printed_calls import PrintedLines
from conformance.formats.rebuilt import CallJoiner, is_part

MAX_SESSIONS: Final = 100_000
"""How many sessions are remembered, to notice when one occurs again."""
_CHUNKS: Final = "chunks"
_SPLIT_SESSION: Final = (
    "its session occurred before: lines that are not adjacent, or exceed the size bound, are checked separately"
)
_BROKEN_LINES: Final = "some of its lines cannot be read, so exchanges may be missing"


class Line(NamedTuple):
    """A line that is not blank: its number (1-based), its bytes, and why it could not be read, if so."""

    number: int
    data: bytes
    problem: InvalidDocument | None = None


def split_lines(file: OpenFile, path: str, bound: int = BOUNDS.bytes) -> Iterator[Line]:
    """Yield the lines of an open file; a line beyond the bound has a problem, and damaged gzip ends the file."""
    number = 0
    while True:
        number += 1
        try:
            # One byte more than allowed shows that a line is too long, without reading it.
            data = file.readline(bound + 1)
            too_long = len(data) > bound
            # What is left of the line is skipped in blocks, so that the next line can be read.
            while too_long and data and not data.endswith(b"\n"):
                data = file.readline(BLOCK)
        except (OSError, EOFError, zlib.error, InvalidDocument) as error:
            reason = error.message if isinstance(error, InvalidDocument) else error
            yield Line(number, b"", InvalidDocument(f"cannot be read beyond this line: {reason}", path, number))
            return
        if too_long:
            yield Line(number, b"", InvalidDocument(f"expected at most {bound} bytes a line, got more", path, number))
        elif not data:
            return
        # Blank lines still count: findings name lines as editors do.
        elif not data.isspace():
            yield Line(number, data.strip())


def read(data: bytes, path: str) -> Iterator[Input]:
    """Yield the inputs in the content of a file of lines."""
    numbered = enumerate(map(bytes.strip, data.split(b"\n")), 1)
    session, lines = sessions.of_lines((Line(number, line) for number, line in numbered if line), path, data[:BLOCK])
    yield from read_lines(lines, path) if session is None else session


def read_lines(
    lines: Iterable[Line],
    path: str,
    seen: Iterable[str] = (),
    reader: Callable[[Line, str], Iterator[Input]] | None = None,
) -> Iterator[Input]:
    """Yield the inputs of lines; those of one call, and adjacent ones of one session or one stream, are one input.

    `seen`: sessions of lines before these. `reader`: what yields
    the inputs of a line, if not its own form does.
    """
    group, calls, printed = Group(seen), CallJoiner(), PrintedLines(path)
    parse = GrowingTexts().parse
    for line in lines:
        size = len(line.data)
        for found in inputs_of(line, path, parse) if reader is None else reader(line, path):
            if found.kind == PRINTED:
                yield from printed.add(found, size)
            elif is_part(found):
                yield from calls.add(found, size)
                # A line may hold parts of many calls, and counts once.
                size = 0
            elif found.problem:
                group.broken.append(line.number)
                yield found
            elif group.continues(found, len(line.data)):
                group.add(found, len(line.data))
            else:
                yield from group.close()
                if may_continue(found):
                    group.add(found, len(line.data))
                else:
                    yield found
    yield from group.close()
    yield from calls.close()
    yield from printed.close()


def may_continue(found: Input) -> bool:
    """Return whether the next line may belong to the same input."""
    return bool(found.session) or found.kind == _CHUNKS


class Group:
    """The adjacent lines that make one input; `seen`: the sessions before it."""

    def __init__(self, seen: Iterable[str] = ()) -> None:
        self.inputs: list[Input] = []
        self.size = 0
        self.broken: list[int] = []
        self.seen = set(seen)

    def continues(self, found: Input, size: int) -> bool:
        """Return whether a line continues the input that the lines before it began."""
        if not self.inputs or self.size + size > BOUNDS.bytes:
            return False
        last = self.inputs[-1]
        same_session = bool(found.session) and found.session == last.session
        return found.kind == last.kind and (same_session or (found.kind == _CHUNKS and not sse.is_beginning(found)))

    def add(self, found: Input, size: int) -> None:
        """Add what a line of a certain size holds."""
        self.inputs.append(found)
        self.size += size

    def close(self) -> Iterator[Input]:
        """Yield the input that the lines make, if any, and start a new group."""
        inputs, broken = self.inputs, self.broken
        self.inputs, self.size, self.broken = [], 0, []
        if not inputs:
            return
        first, last = inputs[0], inputs[-1]
        notes = dict.fromkeys(note for item in inputs for note in item.notes)
        if first.session in self.seen:
            notes[_SPLIT_SESSION] = None
        elif first.session and len(self.seen) < MAX_SESSIONS:
            self.seen.add(first.session)
        if [number for number in broken if (first.line or 0) < number < (last.line or 0)]:
            notes[_BROKEN_LINES] = None
        conversation = tuple(exchange for item in inputs for exchange in item.conversation)
        if first.kind == _CHUNKS:
            conversation = (sse.stream(sse.joined([str(exchange.response) for exchange in conversation])),)
        kind = "exchanges" if first.kind == "exchange" and len(inputs) > 1 else first.kind
        lines = tuple(item.line for item in inputs if item.line is not None)
        yield first._replace(kind=kind, conversation=conversation, lines=lines, notes=tuple(notes))


def inputs_of(line: Line, path: str, parse: Callable[[bytes, str], JSON] = parse_json) -> Iterator[Input]:
    """Yield the inputs of one line; a line that cannot be read is an input with a problem."""
    if line.problem:
        yield Input(path, line.number, "jsonl", problem=line.problem)
        return
    try:
        yield from json.read_value(parse(line.data, path), path, line.number)
    except InvalidDocument as error:
        problem = type(error)(error.message + _hint(error, line, path), path, line.number, error.pointer)
        yield Input(path, line.number, "jsonl", problem=problem)


def _hint(error: InvalidDocument, line: Line, path: str) -> str:
    """Return a hint for a file of lines, of which the first shows what it is; the others would only repeat it."""
    if line.number > 1:
        return ""
    from conformance.formats.hints import for_damaged

    return for_damaged(line.data, error.message, path)
