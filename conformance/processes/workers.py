"""Worker processes of a pool: they run our own code, leave Ctrl-C to their parent, and do not outlive it."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any, TypeVar

from conformance.processes.signals import EXITING, signals_held, unwinding_on_signals

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def worker_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of processes; after an error or Ctrl-C, workers are ended in the middle of what they do."""
    pool = ProcessPoolExecutor(jobs, initializer=_as_worker)
    before = set(multiprocessing.active_children())
    with unwinding_on_signals():
        try:
            yield pool
        except BaseException:
            with signals_held():
                results: Any = pool._result_queue  # noqa: SLF001 — see below
                pool.shutdown(wait=False)
                for worker in set(multiprocessing.active_children()) - before:
                    worker.kill()
                # A worker that is killed while it writes a result leaves a part of it. The executor would wait for the
                # rest for ever, even at the end of the process, because this process could write it, too.
                results._writer.close()  # noqa: SLF001
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def in_order(
    pool: ProcessPoolExecutor, work: Callable[[Item], Result], items: Iterable[Item], ahead: int = sys.maxsize
) -> Iterator[Result]:
    """Yield what `work` returns for each item, in the order of the items; at most `ahead` of them wait.

    The pool's own `map` cancels what is left when it is closed. The executor's thread then fails when workers are
    killed, since it wants to give each future an error, and a cancelled one takes none.
    """
    waiting: deque[Future[Result]] = deque()
    for item in items:
        waiting.append(pool.submit(work, item))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _as_worker() -> None:
    # Ctrl-C reaches every process of the terminal; only the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A worker that was forked has the handlers of its parent.
    for number in EXITING:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent is killed: otherwise it would wait for work forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
