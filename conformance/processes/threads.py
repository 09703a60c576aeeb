"""Threads that wait for servers or disks: Ctrl-C ends the process without them."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def results_in_order(work: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> Iterator[Result]:
    """Yield what `work` returns for each item, in the order of the items, or raise what it raises.

    If the caller stops, or an error or Ctrl-C ends it, threads that are at work are left to themselves: they do not
    keep the process alive, as those of a ThreadPoolExecutor do until their server answers.
    """
    waiting: SimpleQueue[int] = SimpleQueue()
    for number in range(len(items)):
        waiting.put(number)
    futures: list[Future[Result]] = [Future() for _ in items]
    is_over = threading.Event()

    def run() -> None:
        while not is_over.is_set():
            try:
                number = waiting.get_nowait()
            except Empty:
                return
            try:
                futures[number].set_result(work(items[number]))
            except BaseException as error:  # noqa: BLE001 — it is raised where the result is wanted
                futures[number].set_exception(error)

    for _ in range(min(jobs, len(items))):
        threading.Thread(target=run, daemon=True).start()
    try:
        for future in futures:
            yield future.result()
    finally:
        is_over.set()
