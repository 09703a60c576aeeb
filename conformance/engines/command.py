"""The command that is run beside an engine: it is told where the engine listens, and does not outlive it."""

import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Final

import orjson

from conformance.engines.serving import Served
from conformance.errors import Unusable
from conformance.suite.run import BASE_URL, ENGINE, MODEL

_GRACE: Final = 5.0
_ENDS: Final = (signal.SIGTERM, signal.SIGHUP)
_HELD: Final = (signal.SIGINT, *_ENDS)


def told_of(served: Served) -> Mapping[str, str]:
    """Return the environment variables that lead a run of the suites to an engine."""
    engine = orjson.dumps({"engine": served.about, "hidden": served.hidden}).decode()
    return {BASE_URL: served.url, MODEL: served.model, ENGINE: engine}


def run(command: Sequence[str], served: Served) -> int:
    """Run a command to its end and return its exit code, 128 and the number of the signal where one ended it.

    Ctrl-C reaches the command by itself; whatever else ends this process ends the command, too. Raises Unusable where
    it cannot be started.
    """
    # A signal must not come between the start of the command and the care for its end, nor into what Python does around
    # a fork, where it would be lost.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    try:
        process = subprocess.Popen(  # noqa: S603 — the user's own words
            command,
            env={**os.environ, **told_of(served)},
            preexec_fn=lambda: _let_in(before),  # noqa: PLW1509 — no thread runs
        )
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise Unusable(f"{command[0]} cannot be run: {error.strerror or error}") from None
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        code = process.wait()
    except KeyboardInterrupt:
        _ended(process)
        raise
    except BaseException:
        process.terminate()
        _ended(process)
        raise
    return code if code >= 0 else 128 - code


def _let_in(before: Iterable[int]) -> None:
    """Let held signals end the new process, which is not to run this one's handlers until it becomes the command."""
    for number in _HELD:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ended(process: "subprocess.Popen[bytes]") -> int:
    try:
        return process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the stack as Ctrl-C does, so that what was started is ended."""

    def end(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in _ENDS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
