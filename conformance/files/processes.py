"""Checks files in several processes: one reads and hands out batches, the others check them."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeAlias, TypeVar

from conformance.errors import InvalidDocument, Unusable
from conformance.files.broken_lines import BrokenLines
from conformance.files.checking import STDIN, CheckedInput, File, Task, checker_of, failed_file, pasted_error
from conformance.formats import Input, read_block, read_path_in_blocks
from conformance.formats.compression import plain_name
from conformance.processes.workers import worker_pool

if TYPE_CHECKING:
    from conformance.formats.blocks import LineBlock

T = TypeVar("T")

_LINES: Final = (".jsonl", ".ndjson", ".parquet")
_SMALL: Final = 1 << 20
"""How many bytes of lines one process checks alone, if others have files of their own."""
_BATCH: Final = 16
"""How many inputs a process gets at once: enough to outweigh the transfer, few enough to hold in memory."""

Batch: TypeAlias = "File | LineBlock | list[Input | CheckedInput]"
"""What one process checks at once: a file, some lines of a file, or some inputs of a file that has been read."""


def _batches(files: Iterable[File], joined: "Iterator[Input | CheckedInput]", task: Task) -> Iterator[Batch]:
    """Yield each file; a file of lines, which may be of any size, in blocks; other large ones in batches of inputs."""
    for file in files:
        is_lines = plain_name(file.path.name).endswith(_LINES) and not _is_small(file)
        # What a map finds in no line is known only at the end of a file.
        if task.fields or (file.path != STDIN and not is_lines):
            yield file
            continue
        batch: list[Input | CheckedInput] = []
        for each in _read(file, task):
            if not isinstance(each, (Input, CheckedInput)):
                yield each
                continue
            batch.append(each)
            if len(batch) == _BATCH:
                yield batch
                batch = []
        if batch:
            yield batch
    while rest := [*islice(joined, _BATCH)]:
        yield rest


def _is_small(file: File) -> bool:
    """Return whether a file in a folder is checked by one process, which can skip it as a whole."""
    return file.unrelated or (file.found and file.path.stat().st_size <= _SMALL)


def _read(file: File, task: Task) -> "Iterator[LineBlock | Input | CheckedInput]":
    """Yield the content of a file, then the report of an error that ends it."""
    try:
        yield from checker_of(task).read(read_path_in_blocks(file.path))
    except InvalidDocument as error:
        yield pasted_error(file, error) or failed_file(file, error)


class _Checked(NamedTuple, Generic[T]):
    """What was made of a batch, and its lines that cannot be read, which are one input with those of other batches."""

    made: T
    broken: list[Input]


def _check_batch(task: Task, finish: Callable[[Sequence[CheckedInput]], T], batch: Batch) -> _Checked[T]:
    checker = checker_of(task)
    if isinstance(batch, File):
        return _Checked(finish(list(checker.file(batch))), [])
    broken: list[Input] = []
    checked: list[CheckedInput] = []
    for given in batch if isinstance(batch, list) else checker.read(read_block(batch)):
        if isinstance(given, CheckedInput):
            checked.append(given)
        elif BrokenLines().add(given):
            broken.append(given)
        else:
            checked.append(checker.input(given))
    return _Checked(finish(checked), broken)


def _path(batch: Batch) -> str:
    """Return the path of the file that a batch is of."""
    first = batch[0] if isinstance(batch, list) else batch
    return str(first.report["path"] if isinstance(first, CheckedInput) else first.path)


class _Results(Generic[T]):
    """The results of batches, in order; the broken lines of a file come after all else of it."""

    def __init__(self, task: Task, finish: Callable[[Sequence[CheckedInput]], T]) -> None:
        self._task = task
        self._finish = finish
        self._broken = BrokenLines()
        self._path = ""

    def add(self, path: str, checked: _Checked[T]) -> Iterator[T]:
        """Yield what was made of a batch of the file at a path, after the broken lines of the file before."""
        if path != self._path:
            yield from self.close()
        self._path = path
        yield checked.made
        for given in checked.broken:
            self._broken.add(given)

    def close(self) -> Iterator[T]:
        """Yield the broken lines of the last file."""
        for given in self._broken.close():
            yield self._finish([checker_of(self._task).input(given)])


def check_in_processes(
    files: Iterable[File],
    joined: Iterator[Input],
    task: Task,
    finish: Callable[[Sequence[CheckedInput]], T],
    jobs: int,
) -> Iterator[T]:
    """Check in several processes, in order, as `check_paths` does; read ahead only as much as keeps them busy."""
    waiting: deque[tuple[str, Future[_Checked[T]]]] = deque()
    results = _Results(task, finish)
    with worker_pool(jobs) as pool:
        try:
            for batch in _batches(files, joined, task):
                waiting.append((_path(batch), pool.submit(_check_batch, task, finish, batch)))
                # Two for each process: the next one waits while one is checked, and no more are in memory.
                if len(waiting) > 2 * jobs:
                    path, future = waiting.popleft()
                    yield from results.add(path, future.result())
            while waiting:
                path, future = waiting.popleft()
                yield from results.add(path, future.result())
            yield from results.close()
        except BrokenProcessPool:
            message = "a process ended early, most likely for lack of memory; try fewer --jobs"
            raise Unusable(message) from None
