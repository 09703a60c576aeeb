"""Requests and replies that a batch has in different files, joined by what identifies them in both."""

import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import orjson

from conformance.documents import parse_json
from conformance.errors import InvalidDocument
from conformance.formats import read_path
from conformance.formats.compression import BLOCK, open_file, plain_name
from conformance.formats.inputs import Input
from conformance.formats.jsonl import split_lines
from conformance.formats.logs import batch
from conformance.wire.exchange import Exchange, model_of

_MARK: Final = b'"custom_id"'
_SUFFIX: Final = ".jsonl"
_SHOWN: Final = 64
_NOT_CHECKED: Final = "skipped, the reply to a request that is not checked"


class Files(NamedTuple):
    """The files of a batch: those with its requests and those with its replies; both are empty if either is."""

    requests: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()


def of_paths(paths: Sequence[str]) -> tuple[Iterator[Input], Sequence[str]]:
    """Return the inputs of those paths that are files of a batch and belong together, and the other paths."""
    batch = files_of_a_batch(paths)
    return read_joined(batch), [path for path in paths if path not in (*batch.requests, *batch.replies)]


def in_folders(paths: Iterable[Path]) -> tuple[Iterator[Input], frozenset[str]]:
    """Return the inputs of those files that belong together in their folder, and the paths of these files."""
    found: dict[Path, list[str]] = {}
    for path in paths:
        if plain_name(path.name).endswith(_SUFFIX):
            found.setdefault(path.parent, []).append(str(path))
    batches = [files_of_a_batch(each) for each in found.values() if len(each) > 1]
    joined = frozenset(path for each in batches for path in (*each.requests, *each.replies))
    return chain.from_iterable(map(read_joined, batches)), joined


def files_of_a_batch(paths: Sequence[str]) -> Files:
    """Return those of some paths that are files of a batch, by the first line of each, if some belong together."""
    sides = {path: _side(Path(path)) for path in dict.fromkeys(paths)}
    found = Files(*[tuple([path for path in sides if sides[path] == side]) for side in Files._fields])
    return found if all(found) else Files()


def _side(path: Path) -> str:
    if not path.is_file():
        return ""
    try:
        with open_file(path) as file:
            first = next(split_lines(file, str(path)), None) if _MARK in file.peek(BLOCK) else None
        value = parse_json(first.data) if first is not None and first.data.startswith(b"{") else None
    except (InvalidDocument, OSError, EOFError, zlib.error):
        return ""
    if not isinstance(value, dict) or not batch.holds(value):
        return ""
    return "requests" if "body" in value else "replies"


def read_joined(files: Files) -> Iterator[Input]:
    """Yield an input for each reply, with its request, then one for each request that has no reply."""
    with _Requests() as requests:
        for given in _read(files.requests):
            yield from requests.add(given) if given.pair else (given,)
        for given in _read(files.replies):
            yield requests.joined(given) if given.pair else given
        yield from requests.left()


def _read(paths: Sequence[str]) -> Iterator[Input]:
    for path in paths:
        try:
            yield from read_path(Path(path))
        except InvalidDocument as error:
            yield Input(path, error.line, batch.KIND, problem=error)


class _Requests:
    """The requests of a batch, on disk, since a batch may be larger than memory.

    Their places are by what identifies them, None if that is not unique. `_replied` have a reply; `_skipped` are of
    other APIs.
    """

    def __init__(self) -> None:
        self._places: dict[str, tuple[int, int] | None] = {}
        self._replied: set[str] = set()
        self._skipped: set[str] = set()
        self._end = 0
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._file = self._stack.enter_context(tempfile.TemporaryFile())
        return self

    def __exit__(self, *_raised: object) -> None:
        self._stack.close()

    def add(self, given: Input) -> Iterator[Input]:
        """Keep a request; one that another request has the name of is yielded, since no reply tells whose it is."""
        if given.pair in self._places:
            before, self._places[given.pair] = self._places[given.pair], None
            note = f"not joined with a reply: several requests have the custom_id {_shown(given.pair)}"
            if before is not None:
                yield self._input(given.pair, before, note)
            yield given._replace(notes=(*given.notes, note))
            return
        if not given.conversation:
            self._skipped.add(given.pair)
            yield given
            return
        exchange = given.conversation[0]
        data = orjson.dumps([given.path, given.line, exchange.url, exchange.request])
        self._file.write(data)
        self._places[given.pair] = self._end, len(data)
        self._end += len(data)

    def joined(self, given: Input) -> Input:
        """Return a reply with its request, or with a note that says why it has none."""
        if given.pair in self._skipped:
            return given._replace(conversation=(), notes=(_NOT_CHECKED,))
        place = self._places.get(given.pair)
        if place is None:
            what = "several requests have" if given.pair in self._places else "no request has"
            note = f"checked without its request: {what} the custom_id {_shown(given.pair)}"
            return given._replace(notes=(*given.notes, note)) if given.conversation else given
        self._replied.add(given.pair)
        path, line, url, request = self._read(place)
        note = f"joined with its request, {path}:{line}"
        reply = given.conversation[0] if given.conversation else Exchange.of_plain()
        model = model_of(request) or reply.model
        exchange = replace(reply, request=request, url=url, model=model)
        return given._replace(conversation=(exchange,), notes=(*given.notes, note))

    def left(self) -> Iterator[Input]:
        """Yield the requests that have no reply, in their order."""
        for pair, place in self._places.items():
            if place is not None and pair not in self._replied:
                note = f"checked without a reply: no reply has the custom_id {_shown(pair)}"
                yield self._input(pair, place, note)

    def _input(self, pair: str, place: tuple[int, int], note: str) -> Input:
        path, line, url, request = self._read(place)
        exchange = Exchange.of_plain(request, url=url, model=model_of(request))
        return Input(path, line, batch.KIND, (exchange,), notes=(note,), pair=pair)

    def _read(self, place: tuple[int, int]) -> Any:
        self._file.seek(place[0])
        data = self._file.read(place[1])
        self._file.seek(self._end)
        return orjson.loads(data)


def _shown(pair: str) -> str:
    return repr(pair if len(pair) <= _SHOWN else f"{pair[:_SHOWN]}…")
