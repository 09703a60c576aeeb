"""JSON Lines in blocks of whole inputs, so that other processes parse them.

Most lines are inputs of their own, which their bytes show, so that they need not be parsed here.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple

from conformance.formats.inputs import Input
from conformance.formats.jsonl import MAX_SESSIONS, Group, Line, inputs_of, may_continue, read_lines
from conformance.formats.sse import is_beginning

_BYTES: Final = 1 << 18
_LINES: Final = 32
"""A block has at least so many bytes or lines, if there are more, which outweighs the transfer."""

_CHUNK_WITHOUT_DELTA: Final = re.compile(rb'"choices"\s*:\s*\[\s*[^{\s]')
_EVENT: Final = re.compile(
    rb'"type"\s*:\s*"(?:response\.|message_st|message_delta|content_block_|ping")|"sequence_number"\s*:'
)
"""What an event of a stream has, in which its deltas may be elsewhere."""

_PART: Final = re.compile(
    rb'"event(?:_n|N|\.n)ame"[^}]{0,99}"gen_ai\.'
    rb'|"(?:level|levelname|severity|log\.level|record|log|textPayload|jsonPayload)"\s*:'
)
"""What a log record has, or a line of a program's log, that may have to be joined with others."""
# A key such as "session" may be written with escapes; its letters are U+0061 to U+007A.
_ESCAPED_LETTER: Final = re.compile(rb"\\u00[67]")


class LineBlock(NamedTuple):
    """Adjacent lines of the file at `path`, none of whose inputs continues before or after them.

    `seen`: those of their sessions that occurred before. `note`: a note on the whole file, which its first input has.
    """

    path: str
    lines: tuple[Line, ...]
    seen: frozenset[str] = frozenset()
    note: str = ""


def split(lines: Iterable[Line], path: str, least: int = _LINES) -> Iterator[LineBlock | Input]:
    """Yield lines in blocks of at least so many lines, fewer if they are long; none if no line holds an input.

    From the first line on that may hold a part of a call, whose other parts may be anywhere, yield inputs instead.
    """
    cutter, rest = _Cutter(path, least), iter(lines)
    for line in rest:
        if _PART.search(line.data):
            # The rest of the file is read here: parts of a call may be any number of lines away.
            yield from read_lines(chain(cutter.lines, (line,), rest), path, cutter.before)
            return
        yield from cutter.add(line)
    yield from cutter.cut()


class _Cutter:
    """The lines of the next block, and what the next line may continue; `before`: the sessions of blocks before."""

    def __init__(self, path: str, least: int) -> None:
        self._path = path
        self._least = least
        self.lines: list[Line] = []
        self._size = 0
        self._group = Group()
        self.before: set[str] = set()
        self._sessions: set[str] = set()
        self._empty = True

    def add(self, line: Line) -> Iterator[LineBlock]:
        """Add a line; yield the block before it if that is large enough and the line does not continue it."""
        has_group, was_empty = bool(self._group.inputs), self._empty
        found: list[Input] = []
        # Of the first lines it must be known whether they hold an input at all.
        if has_group or was_empty or not _stands_alone(line):
            every = list(inputs_of(line, self._path))
            self._empty = was_empty and not every
            # Only sessions and sizes count here; another process parses the exchanges again.
            found = [_without_exchanges(each) for each in every if not each.problem]
        # A line that cannot be read does not end a group.
        is_end = not was_empty
        if has_group:
            is_end = bool(found) and not self._group.continues(found[0], len(line.data))
        if is_end and (self._size >= _BYTES or len(self.lines) >= self._least):
            yield from self.cut()
        self.lines.append(line)
        self._size += len(line.data)
        for each in found:
            self._follow(each, len(line.data))

    def cut(self) -> Iterator[LineBlock]:
        """Yield the lines so far as a block, if they hold any input."""
        if self.lines and not self._empty:
            yield LineBlock(self._path, tuple(self.lines), frozenset(self._sessions & self.before))
        # Beyond the bound, a session that occurs again is not noticed; memory stays constant.
        if len(self.before) < MAX_SESSIONS:
            self.before |= self._sessions
        self.lines, self._size, self._sessions = [], 0, set()

    def _follow(self, found: Input, size: int) -> None:
        if not self._group.continues(found, size):
            self._group = Group()
        if may_continue(found):
            self._group.add(found, size)
        if found.session:
            self._sessions.add(found.session)


def _without_exchanges(found: Input) -> Input:
    """Return an input without what is parsed again; whether an event is the first of its stream is seen in it."""
    return found if is_beginning(found) else found._replace(conversation=())


def _stands_alone(line: Line) -> bool:
    """Return whether a line surely has no session, and is no chunk or event; its keys may be written with escapes."""
    data = line.data
    if line.problem or not data.startswith(b"{") or b'"session"' in data or b'"delta"' in data:
        return False
    if _EVENT.search(data):
        return False
    if b'"choices"' in data and _CHUNK_WITHOUT_DELTA.search(data):
        return False
    return b"\\u00" not in data or _ESCAPED_LETTER.search(data) is None
