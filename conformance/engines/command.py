"""The user's command that runs beside an engine: it gets the engine's address and does not outlive it."""

import os
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import orjson

from conformance import processes
from conformance.engines.serving import ServedEngine
from conformance.errors import Unusable
from conformance.suite.options import BASE_URL, ENGINE, MODEL

_GRACE: Final = 5.0
_BLOCKED: Final = (signal.SIGINT, *processes.EXITING)


def variables(served: ServedEngine) -> Mapping[str, str]:
    """Return the environment variables that direct a run of the suites to an engine."""
    engine = orjson.dumps({"engine": served.about, "hidden": served.hidden}).decode()
    return {BASE_URL: served.url, MODEL: served.model, ENGINE: engine}


def run(command: Sequence[str], served: ServedEngine) -> int:
    """Run a command to its end and return its exit code, or 128 and the number of the signal that ended it.

    Ctrl-C reaches the command directly; any other end of this process terminates the command. Raises Unusable if the
    command cannot be started.
    """
    # A signal between the start of the command and the `try` below would leave the command running; one that arrives
    # while Python forks would be lost.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _BLOCKED)
    try:
        process = subprocess.Popen(  # noqa: S603 — the user's own words
            command,
            env={**os.environ, **variables(served)},
            preexec_fn=lambda: _reset_signals(before),  # noqa: PLW1509 — no thread runs
        )
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise Unusable(f"cannot run {command[0]}: {error.strerror or error}") from None
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        code = process.wait()
    except KeyboardInterrupt:
        processes.wait_or_kill(process, _GRACE)
        raise
    except BaseException:
        process.terminate()
        processes.wait_or_kill(process, _GRACE)
        raise
    return code if code >= 0 else 128 - code


def _reset_signals(mask: Iterable[int]) -> None:
    """Let blocked signals end the new process, which must not run this one's handlers before it becomes the command."""
    for number in _BLOCKED:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
