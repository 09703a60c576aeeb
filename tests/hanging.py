"""A guard against code that never ends: it measures nothing, and only a hang lets it fire."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

HANGS = 120
"""Seconds after which something that takes milliseconds can only be hanging."""


@contextmanager
def ends() -> Iterator[None]:
    """Fail if the block hangs."""

    def hangs(_signal: int, _frame: FrameType | None) -> NoReturn:
        message = f"did not end within {HANGS} seconds"
        raise AssertionError(message)

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(HANGS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
