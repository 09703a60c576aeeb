"""Calibration: real exchanges held against the simulator's refusals and the profiles' claims.

Each recorded request is put to the rules that the simulator refuses by, with the claims of the recording's own model
and day, and what comes of it is compared with what the provider really answered. Each reply is judged by the profile.
A claim counts as tried only where something was there that it speaks of: one about replies where a rule that judged a
part of the reply asked for it, a verdict where the request held the very deviation.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from conformance import profiles
from conformance.errors import InvalidDocument, Unrecognized
from conformance.evidence.observations import Seen, Verdict, observe
from conformance.evidence.tally import Failure, Tally
from conformance.files import AUTO, File, files_of
from conformance.formats import Input, read_path

__all__ = ["Failure", "Seen", "Tally", "Verdict", "calibrate"]

_BATCH: Final = 64
"""How many inputs go to a process at once."""


def calibrate(paths: Iterable[str], provider: str = AUTO, jobs: int = 1) -> Tally:
    """Judge every exchange that the paths lead to, in as many processes; `auto` takes the provider that each tells of.

    Raises UnknownName where there is no such provider, before anything is read. What cannot be read is told by the
    tally, and the others follow.
    """
    name = "" if provider == AUTO else profiles.load(provider).name
    tally = Tally()
    inputs = _readable((each for path in paths for file in files_of(path) for each in _inputs(file)), tally)
    batches = iter(lambda: list(islice(inputs, _BATCH)), [])
    for seen in _in_processes(batches, name, jobs) if jobs > 1 else (_observe(each, name) for each in batches):
        tally.add(seen)
    return tally


def _inputs(file: File) -> Iterator[Input]:
    """Yield the inputs of a file; where it breaks off, the last one says why."""
    try:
        yield from read_path(file.path)
    except InvalidDocument as error:
        if not (file.found and isinstance(error, Unrecognized)):
            yield Input(str(file.path), error.line, "unrecognized", problem=error)


def _readable(inputs: Iterable[Input], tally: Tally) -> Iterator[Input]:
    """Yield the inputs that hold chat completions, and count the others."""
    for given in inputs:
        if given.problem is not None:
            tally.unreadable.append(str(given.problem))
        elif given.conversation:
            yield given
        else:
            tally.others += 1


def _observe(batch: list[Input], provider: str) -> list[Seen]:
    return [seen for given in batch for seen in observe(given, provider)]


def _in_processes(batches: Iterable[list[Input]], provider: str, jobs: int) -> Iterator[list[Seen]]:
    """Judge in processes, in order; only so much is read ahead as keeps all of them busy."""
    # Imported here because one process needs none of it.
    import signal
    from concurrent.futures import Future, ProcessPoolExecutor

    # An interrupt reaches every process of the terminal; the one that was called answers it.
    with ProcessPoolExecutor(jobs, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)) as pool:
        waiting: deque[Future[list[Seen]]] = deque()
        for batch in batches:
            waiting.append(pool.submit(_observe, batch, provider))
            if len(waiting) > 2 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
