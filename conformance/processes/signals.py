"""Signals that ask this process to end: the first one unwinds the stack, so that children end and results are kept."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

EXITING: Final = tuple([getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)])
"""The signals that ask a process to end, beside Ctrl-C."""

_AT_ONCE: Final = 3
"""The signal that ends the process at once, in case that unwinding hangs: the guards of its children still end them."""


def _exit(number: int) -> BaseException:
    return SystemExit(128 + number)


class _Unwinding:
    """A handler whose first signal raises; the second one would only cut short what the first one began."""

    def __init__(self, error: Callable[[int], BaseException]) -> None:
        self._error = error
        self._count = 0
        self._is_held = False
        self._waiting: int | None = None

    def __call__(self, number: int, _: FrameType | None) -> None:
        self._count += 1
        if self._count == _AT_ONCE:
            os._exit(128 + number)
        if self._count > 1:
            return
        if self._is_held:
            self._waiting = number
            return
        raise self._raised(number)

    def _raised(self, number: int) -> BaseException:
        return KeyboardInterrupt() if number == signal.SIGINT else self._error(number)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Raise only at the end of the block."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
        if self._waiting is not None:
            number, self._waiting = self._waiting, None
            raise self._raised(number)


@contextmanager
def unwinding_on_signals(error: Callable[[int], BaseException] = _exit) -> Iterator[None]:
    """Let the first of Ctrl-C, SIGTERM and SIGHUP unwind the stack; the second is ignored, the third ends the process.

    `error` makes the exception for SIGTERM and SIGHUP from their number. Only the main thread of a process can handle
    signals. Those that are ignored, as after `nohup`, or that the caller handles stay as they are.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = _Unwinding(error)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *EXITING)}
    changed = {each: old for each, old in before.items() if old in (signal.SIG_DFL, signal.default_int_handler)}
    for number in changed:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in changed.items():
            signal.signal(number, old)


@contextmanager
def signals_held() -> Iterator[None]:
    """Do not unwind inside the block, which ends children; the signal unwinds after it."""
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, *EXITING)]
    handler = next((each for each in handlers if isinstance(each, _Unwinding)), None)
    if handler is None:
        yield
        return
    with handler.held():
        yield
