"""Child processes of adapters and engines: what they inherit, how they run to their end, and how they are ended."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

from conformance.errors import Unusable

EXITING: Final = tuple([getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)])
"""The signals that ask a process to end."""

_INHERITED: Final = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE")
_LAST_LINES: Final = 15
_LAST_CHARACTERS: Final = 2000


def inherited(*more: str) -> dict[str, str]:
    """Return the environment variables that every program needs, and those named by `more`, as far as they are set.

    API keys, proxies and settings of the caller's shell are left out: an SDK or engine would send or obey them, so that
    results would differ between machines.
    """
    return {name: os.environ[name] for name in (*_INHERITED, *more) if name in os.environ}


def run(
    command: Sequence[str],
    failure: str,
    seconds: float,
    environment: Mapping[str, str] | None = None,
    cause: Callable[[Sequence[str]], str] | None = None,
) -> None:
    """Run a command to its end; if it fails, raise Unusable with `failure` and the cause.

    `cause` finds the cause in the lines of the output; if it returns nothing, the last lines are shown.
    """
    try:
        done = subprocess.run(  # noqa: S603 — the words are those of our own definitions
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        message = f"{failure}: it did not end within {seconds:g} seconds"
        raise Unusable(message) from None
    if done.returncode:
        lines = [line for line in done.stdout.decode("utf-8", "replace").splitlines() if line.strip()]
        if cause is not None and (found := cause(lines)):
            raise Unusable(f"{failure}: {found}")
        shown = "\n".join(lines[-_LAST_LINES:])[-_LAST_CHARACTERS:] or "it wrote nothing"
        raise Unusable(f"{failure} (exit code {done.returncode}): {shown}")


def wait_or_kill(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Wait for the end of a process, and kill it if that takes longer than some seconds."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def kill_tree(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process that was started in a session of its own, with everything that it started, and wait for its end.

    A process that has ended already no longer has children, but may have left some behind in its process group.
    """
    # Imported here because only drivers that hang need it, and it takes as long to import as most commands to start.
    import psutil

    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
    if os.name != "nt":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _exit(number: int) -> BaseException:
    return SystemExit(128 + number)


@contextmanager
def unwinding_on_signals(error: Callable[[int], BaseException] = _exit) -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the stack as Ctrl-C does, so that child processes end and what was done is kept.

    `error` makes the exception from the signal's number. Only the main thread of a process can handle signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, _: FrameType | None) -> None:
        raise error(number)

    before = {number: signal.signal(number, leave) for number in EXITING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
