"""A driver's process: it is given one document, is bounded in time and output, and leaves nothing behind."""

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from conformance import processes

MAX_OUTPUT: Final = 1024 * 1024
"""Bytes of standard output that a driver may write."""

TAIL: Final = 4096
"""How many bytes of the end of standard error are kept."""

_PIECE: Final = 65536
_GRACE: Final = 2.0
"""Seconds that what is left in the pipes of a process that has ended may take to be read."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended.

    `problem`: why it was ended from here, or could not be started; empty where it ended by itself, with `code`.
    `output` is all of its standard output, as far as it is bounded, `errors` the tail of its standard error.
    """

    code: int | None
    output: bytes
    errors: str
    problem: str = ""


def run(command: Sequence[str], given: bytes, folder: Path, variables: Mapping[str, str], seconds: float) -> Ended:
    """Run a command in a process group of its own, write `given` to it, and return how it ended."""
    try:
        process = subprocess.Popen(  # noqa: S603 — to run the user's own driver is what this is for
            command,
            cwd=folder,
            env=dict(variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Ended(None, b"", "", f"cannot be started: {error.filename or command[0]}: {error.strerror or error}")
    output, errors = _Reader(process.stdout, MAX_OUTPUT), _Reader(process.stderr, TAIL, tail=True)
    writer = threading.Thread(target=_write, args=(process.stdin, given), daemon=True)
    for thread in (writer, output, errors):
        thread.start()
    try:
        problem = _wait(process, output, seconds)
    finally:
        # What the driver started must not outlive it, nor hold its pipes open.
        processes.kill_tree(process)
    for thread in (writer, output, errors):
        thread.join(_GRACE)
    _close(process, output, errors)
    return Ended(process.returncode, bytes(output.kept), errors.kept.decode("utf-8", "replace"), problem)


class _Reader(threading.Thread):
    """Reads a pipe to its end and keeps so many bytes of it: the first, or the last."""

    def __init__(self, pipe: IO[bytes] | None, most: int, *, tail: bool = False) -> None:
        super().__init__(daemon=True)
        self.kept = bytearray()
        self.is_full = False
        self._pipe, self._most, self._tail = pipe, most, tail

    def run(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while self._pipe is not None and (piece := os.read(self._pipe.fileno(), _PIECE)):
                self.kept += piece
                if len(self.kept) > self._most:
                    self.is_full = True
                    del self.kept[: -self._most if self._tail else None]
                    if not self._tail:
                        return


def _write(pipe: IO[bytes] | None, given: bytes) -> None:
    # A driver need not read what it is given.
    with contextlib.suppress(OSError, ValueError):
        if pipe is not None:
            pipe.write(given)
    with contextlib.suppress(OSError, ValueError):
        if pipe is not None:
            pipe.close()


def _wait(process: "subprocess.Popen[bytes]", output: _Reader, seconds: float) -> str:
    """Wait for the end of a process; return why it must be ended instead, or the empty string."""
    due = time.monotonic() + seconds
    while not output.is_full:
        left = due - time.monotonic()
        if left <= 0:
            return f"did not end within {seconds:g} seconds"
        try:
            process.wait(min(left, 0.05) if output.is_alive() else left)
        except subprocess.TimeoutExpired:
            continue
        return ""
    return f"wrote more than {MAX_OUTPUT} bytes to its standard output"


def _close(process: "subprocess.Popen[bytes]", *readers: _Reader) -> None:
    """Close the pipes that nobody reads any more; one that a stray program still holds is left to its reader."""
    for pipe, reader in zip((process.stdout, process.stderr), readers, strict=True):
        if pipe is not None and not reader.is_alive():
            pipe.close()
