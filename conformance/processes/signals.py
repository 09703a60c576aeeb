"""Signals that ask this process to end: the first one unwinds the stack, so that children end and results are kept."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
        self._first: int | None = None
        self._waiting: int | None = None

    def __call__(self, number: int, _: FrameType | None) -> None:
        self._count += 1
        if self._count == _AT_ONCE:
            os._exit(128 + number)
        if self._count > 1:
            return
        self._first = number
        if self._is_held:
            self._waiting = number
            return
        raise self._raised(number)

    def _raised(self, number: int) -> BaseException:
        return KeyboardInterrupt() if number == signal.SIGINT else self._error(number)

    def raise_again(self) -> None:
        """Raise what the first signal has raised, if there was one."""
        if self._first is not None:
            raise self._raised(self._first)

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
def unwinding_on_signals(error: Callable[[int], BaseException] = _exit, *, again: bool = True) -> Iterator[None]:
    """Let the first of Ctrl-C, SIGTERM and SIGHUP unwind the stack; the second is ignored, the third ends the process.

    `error` makes the exception for SIGTERM and SIGHUP from their number. It is raised `again` at the end of the block
    if that ends as if no signal had come, because native code drops what is raised in its callbacks. Only the main
    thread of a process can handle signals. Those that are ignored, as after `nohup`, or that the caller handles stay.
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
            # Who ends meanwhile ignores them, and a generator may end this block as late as that.
            if signal.getsignal(number) is handler:
                signal.signal(number, old)
    if again:
        handler.raise_again()


@contextmanager
def noticing_signals() -> Iterator[Callable[[], None]]:
    """Yield a function that raises if a signal came inside the block: native code drops what its callbacks raise.

    Only the main thread of a process handles signals; elsewhere the function does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    came, waker = os.pipe()
    for each in (came, waker):
        os.set_blocking(each, False)
    before = signal.set_wakeup_fd(waker, warn_on_full_buffer=False)

    def raise_if_any() -> None:
        with suppress(BlockingIOError):
            number = os.read(came, 1)[0]
            raise KeyboardInterrupt if number == signal.SIGINT else _exit(number)

    try:
        yield raise_if_any
    finally:
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)
        os.close(came)
        os.close(waker)


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
