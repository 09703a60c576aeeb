"""Marks of a text log joined to calls: a request, the reply to it, and what was raised.

A log of one thread has them in order. Calls that overlap cannot be separated where the log has no ids; then their
requests and replies are checked apart, and a note says so.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from conformance import wires
from conformance.documents import BOUNDS
from conformance.formats.failures import message_of
from conformance.formats.inputs import Input
from conformance.formats.rebuilt import ALL_RULES
from conformance.formats.records import date_of
from conformance.wire.exchange import Exchange, model_of
from conformance.wires import other_api

KIND: Final = "printed"
PROGRAM: Final = "program"
"""Who reports a request that a program printed by itself."""
_NOTE: Final = "a text log holds what the program printed: bodies of replies are missing unless they are errors"
_OVERLAP: Final = "calls overlap in this log, which has no ids, so their requests and replies are checked apart"
_NO_CALLS: Final = "skipped, a log of a program without requests or failures of an API; --map reads fields of its lines"
_SILENT: Final = "skipped, calls of which the log holds neither a body nor a failure: {0}"
_REPEATED: Final = "the same failure is logged {0} times"
_ERROR: Final = 400
_MAX_OPEN: Final = 100
"""How many calls back the SDK's own report of a reply is looked for."""
_NOTHING: Final[Mapping[str, str]] = {}


class Mark(NamedTuple):
    """What one place in a log says: of a `request`, its `url`, its `reply`, a `failure`, or that it was `lost`.

    `at`: the place in the text. `id`: the call, if the log names it. `by`: who reports a reply, since an SDK and the
    HTTP client below it report the same one. `is_body`: whether `body` is that of the reply itself.
    """

    what: str
    at: int
    body: Any = None
    url: str = ""
    status: int | None = None
    headers: Mapping[str, str] = _NOTHING
    id: str = ""
    by: str = ""
    note: str = ""
    is_body: bool = False
    line: int | None = None


@dataclass(slots=True)
class _Call:
    """A call as far as it was read."""

    line: int | None
    request: Any = None
    url: str = ""
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    response: Any = None
    reported: set[str] = field(default_factory=set)
    is_whole: bool = True
    times: int = 1


def joined(marks: Iterable[Mark], path: str, kind: str = KIND) -> Input:
    """Return the calls that some marks make, as one input."""
    calls, found = _Calls(), list(marks)
    # LiteLLM prints its own parameters, too, in the form of a body.
    by_sdk = any(each.what == "request" and each.by != PROGRAM for each in found)
    for mark in found:
        if not (by_sdk and mark.by == PROGRAM):
            calls.add(mark)
    kept = [each for each in calls.made if each.request is not None or each.response is not None or _failed(each)]
    pairs = [(each, exchange) for each in kept if (exchange := _exchange(each)) is not None]
    repeated = [_REPEATED.format(each.times) for each, _ in pairs if each.times > 1]
    without = len(calls.made) - len(pairs)
    silent = (
        [f"skipped, calls of which the log holds neither a body nor a failure ({without} times)"] if without else []
    )
    notes = dict.fromkeys(([_NOTE] if pairs else []) + list(calls.notes) + repeated + silent)
    lines = tuple(each.line for each, _ in pairs if each.line is not None)
    conversation = tuple(exchange for _, exchange in pairs)
    return Input(
        path, lines[0] if lines else None, kind, conversation, lines=lines, notes=tuple(notes), rules=ALL_RULES
    )


def _failed(call: _Call) -> bool:
    return call.status is not None and call.status >= _ERROR


def _exchange(call: _Call) -> Exchange | None:
    date = date_of(call.headers.get("date"))
    model = model_of(call.request)
    found = Exchange.of_plain(
        call.request, call.response, call.status, headers=call.headers, url=call.url, model=model, date=date
    )
    if other_api(found):
        return None
    is_known = call.response is not None or _is_api(call.url) or call.request is not None
    return found if is_known else None


def _is_api(url: str) -> bool:
    """Return whether a URL is that of a wire; a log also has the calls of everything else."""
    return not url or any(path in url for wire in wires.load() for path in wire.paths)


class PrintedLines:
    """The lines of a program's log in JSON Lines, whose marks make calls together."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._marks: list[Mark] = []
        self._size = 0
        self._first: Input | None = None

    def add(self, found: Input, size: int) -> Iterator[Input]:
        """Add a line of so many bytes, and yield the calls so far if they exceed the size bound of a document."""
        self._first = self._first or found
        if not found.marks:
            return
        self._marks += [mark._replace(line=found.line) for mark in found.marks]
        self._size += size
        if self._size > BOUNDS.bytes:
            yield from self.close()

    def close(self) -> Iterator[Input]:
        """Yield the calls that are left; of a log without any, a note that says so."""
        if self._marks:
            yield joined(self._marks, self._path)
        elif self._first is not None:
            yield self._first._replace(notes=(_NO_CALLS,))
        self._marks, self._size, self._first = [], 0, None


class _Calls:
    """The calls so far; `notes`: what could not be read or joined."""

    def __init__(self) -> None:
        self.made: list[_Call] = []
        self._open: list[_Call] = []
        self._ids: dict[str, _Call] = {}
        self.notes: dict[str, None] = {}

    def add(self, mark: Mark) -> None:
        """Add what a mark says to the call that it belongs to."""
        if mark.note:
            self.notes[mark.note] = None
        if mark.what == "request" and mark.by == PROGRAM:
            self._printed(mark)
        elif mark.what == "request":
            self._open.append(self._new(mark))
        elif mark.what == "url":
            self._sending(mark)
        elif mark.what == "lost":
            self._open = []
        elif mark.what == "reply":
            self._reply(mark)
        else:
            self._failure(mark)

    def _new(self, mark: Mark) -> _Call:
        call = _Call(mark.line, mark.body if mark.what == "request" else None, mark.url)
        self.made.append(call)
        if mark.id:
            self._ids[mark.id] = call
        return call

    def _printed(self, mark: Mark) -> None:
        """Take a body that a program printed: that of the call which an SDK reports, too, or one of its own."""
        last = self.made[-1] if self.made else None
        waiting = next((each for each in self._open if each.request is None), None)
        if waiting is not None:
            waiting.request = mark.body
        elif last is None or last.request != mark.body or last.response is not None:
            self._open.append(self._new(mark))

    def _sending(self, mark: Mark) -> None:
        last = self._open[-1] if self._open else None
        if last is not None and not last.url:
            last.url = mark.url
        else:
            self._open.append(self._new(mark))

    def _reply(self, mark: Mark) -> None:
        call = self._call_of(mark)
        self._open = [each for each in self._open if each is not call]
        call.status = mark.status if call.status is None else call.status
        call.url = call.url or mark.url
        call.headers.update(mark.headers)
        call.response = mark.body if mark.body is not None else call.response
        call.reported.add(mark.by)

    def _call_of(self, mark: Mark) -> _Call:
        """Return the call that a reply belongs to, a new one if the log does not show which."""
        if mark.id in self._ids:
            return self._ids[mark.id]
        if known := self._reported_by_another(mark):
            return known
        fitting = [each for each in self._open if not (each.url and mark.url and each.url != mark.url)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            self.notes[_OVERLAP] = None
            self._open = [each for each in self._open if each not in fitting]
        return self._new(mark)

    def _reported_by_another(self, mark: Mark) -> _Call | None:
        """Return the call whose reply the HTTP client reported before the SDK did."""
        if mark.by != "sdk" or (self._open and self.made[-1] is self._open[-1]):
            return None
        recent = self.made[-_MAX_OPEN:]
        found = [each for each in recent if each.reported == {"client"} and each.status == mark.status]
        return next((each for each in reversed(found) if not mark.url or each.url == mark.url), None)

    def _failure(self, mark: Mark) -> None:
        last = self.made[-1] if self.made else None
        if last is not None and last.response is not None and _same(last, mark):
            last.times += 1
            if mark.is_body and not last.is_whole:
                last.response, last.is_whole = mark.body, True
            return
        if mark.status is None and not mark.is_body and (last is None or not _failed(last)):
            # SDKs also raise what has nothing to do with a reply, such as a price that is not known.
            return
        if last is None or last.response is not None or not _may_fail(last, mark):
            last = self._new(mark)
        last.status = last.status or mark.status
        last.url = last.url or mark.url
        last.response, last.is_whole = mark.body, mark.is_body
        self._open = [each for each in self._open if each is not last]


def _may_fail(call: _Call, mark: Mark) -> bool:
    """Return whether a failure may be that of the call before it."""
    return call.status in (None, mark.status) or (mark.status is None and _failed(call))


def _same(call: _Call, mark: Mark) -> bool:
    """Return whether a failure is one that was logged before: a wrapper raises what it caught, in more words."""
    before, now = message_of(call.response), message_of(mark.body)
    return mark.status in (None, call.status) and bool(now) and (before in now or now in before)
