"""Drivers: a program reads a job and prints an answer, bounded in time and output; any other end is its failure.

A driver has an empty home, a working folder and a folder for temporary files of its own, which are removed after it.
"""

import contextlib
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Final

import orjson

from conformance import processes
from conformance.adapters.loop import DriverAnswer
from conformance.documents import parse_json
from conformance.documents.pointer import render
from conformance.errors import InvalidDocument, Unusable
from conformance.schemas import validator
from conformance.secrets import Scrubber, named_secrets, scrubber

SECONDS: Final = 60.0
"""The default timeout of one case; some SDKs take half of it to be imported."""

MAX_OUTPUT: Final = 1024 * 1024
"""Bytes of standard output that a driver may write."""

MAX_ERRORS: Final = 4096
"""Bytes of the end of standard error that are kept."""

_INHERITED: Final = ("SYSTEMROOT", "TZ", "NODE_PATH")
_FIXED: Final = {"PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1", "NO_PROXY": "127.0.0.1,localhost"}
_ANSWER_CHARACTERS: Final = 300
_ERROR_LINES: Final = 8
_CHUNK: Final = 65536
_GRACE: Final = 2.0
"""Seconds to read what is left in the pipes of a process that has ended."""


@dataclass(frozen=True, slots=True)
class Driver:
    """The command that drives an adapter; `environment` is added to what every driver inherits.

    It runs in `folder`, by default in an empty one. With `uses_network` it may reach more than the simulator. `agent`:
    how it starts a whole agent, which has tools of its own.
    """

    command: tuple[str, ...]
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    seconds: float = SECONDS
    uses_network: bool = False
    agent: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def scrubber(self) -> Scrubber | None:
        """What removes the secrets that the driver is given from what it writes; None if it is given none."""
        secrets = named_secrets(self.environment)
        return scrubber(secrets) if secrets else None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What drivers run in: the owner of their processes, and the descriptors of the namespaces that they enter."""

    children: processes.Children
    namespaces: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DriverResult:
    """What a driver made of a job: its answer, or None and why there is none."""

    answer: DriverAnswer | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a process ended: by itself with `code`, or because of `problem`; its output and the end of its errors."""

    code: int | None
    output: bytes
    errors: str
    problem: str = ""


def drive(driver: Driver, job: Mapping[str, Any], surroundings: Surroundings) -> DriverResult:
    """Give a driver its job and return the result; nothing that the driver does raises."""
    ended = _without_secrets(_run(driver, orjson.dumps(job), surroundings), driver.scrubber)
    if ended.problem:
        return _failed(ended.problem, ended)
    if ended.code != 0:
        return _failed(f"ended with exit code {ended.code}", ended)
    lines = [line for line in ended.output.decode("utf-8", "replace").splitlines() if line.strip()]
    if not lines:
        return _failed("printed no answer", ended)
    try:
        value: Any = parse_json(lines[-1].encode(), "the last line of its standard output")
    except InvalidDocument as error:
        return _failed(f"printed no answer: {error}: {lines[-1][:_ANSWER_CHARACTERS]!r}", ended)
    errors = validator("files/adapter-answer").errors(value)
    if errors:
        at = render(errors[0].place) or "(root)"
        return _failed(f"printed an invalid answer: at {at}: {errors[0].message}", ended)
    return DriverResult(DriverAnswer.from_json(value))


def _without_secrets(ended: _Ended, secrets: Scrubber | None) -> _Ended:
    if secrets is None:
        return ended
    output = secrets.text(ended.output.decode("utf-8", "replace")).encode()
    return replace(ended, output=output, errors=secrets.text(ended.errors))


def _failed(what: str, ended: _Ended) -> DriverResult:
    lines = [line.rstrip() for line in ended.errors.splitlines() if line.strip()][-_ERROR_LINES:]
    tail = f"; standard error ends:\n{chr(10).join(lines)}" if lines else ""
    return DriverResult(None, f"the driver {what}{tail}")


def _run(driver: Driver, job: bytes, surroundings: Surroundings) -> _Ended:
    """Run a driver, write the job to it, and return how it ended."""
    with _own_folders() as (folder, variables):
        launch = processes.Launch(
            environment={**processes.inherited(*_INHERITED), **variables, **_FIXED, **driver.environment},
            folder=driver.folder or folder,
            scratch=folder.parent,
            namespaces=surroundings.namespaces,
        )
        pipe = subprocess.PIPE
        try:
            child = surroundings.children.start(driver.command, launch, stdin=pipe, stdout=pipe, stderr=pipe)
        except OSError as error:
            named = error.filename or driver.command[0]
            return _Ended(None, b"", "", f"cannot be started: {named}: {error.strerror or error}")
        except Unusable as error:
            return _Ended(None, b"", "", f"was not started: {error}")
        return _attended(child, job, driver.seconds)


@contextlib.contextmanager
def _own_folders() -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield a working folder, and the variables that name a home and a folder for temporary files; all are empty."""
    with tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as name:
        home, work, scratch = [Path(name, each) for each in ("home", "work", "tmp")]
        for each in (home, work, scratch):
            each.mkdir()
        homes, scratches = ("HOME", "USERPROFILE"), ("TMPDIR", "TEMP", "TMP")
        yield work, dict.fromkeys(homes, str(home)) | dict.fromkeys(scratches, str(scratch))


def _attended(child: processes.Child, job: bytes, seconds: float) -> _Ended:
    """Write the job to a driver, read what it writes, and return how it ended."""
    output, errors = _PipeReader(child.stdout, MAX_OUTPUT), _PipeReader(child.stderr, MAX_ERRORS, tail=True)
    writer = threading.Thread(target=_write, args=(child.stdin, job), daemon=True)
    for thread in (writer, output, errors):
        thread.start()
    try:
        problem = _wait(child, output, seconds)
    finally:
        # What the driver started must not outlive it, nor hold its pipes open.
        child.kill()
    for thread in (writer, output, errors):
        thread.join(_GRACE)
    _close(child, output, errors)
    return _Ended(child.returncode, bytes(output.content), errors.content.decode("utf-8", "replace"), problem)


class _PipeReader(threading.Thread):
    """Reads a pipe to its end and keeps a number of bytes: the first, or the last."""

    def __init__(self, pipe: IO[bytes] | None, limit: int, *, tail: bool = False) -> None:
        super().__init__(daemon=True)
        self.content = bytearray()
        self.is_full = False
        self._pipe, self._limit, self._tail = pipe, limit, tail

    def run(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while self._pipe is not None and (chunk := os.read(self._pipe.fileno(), _CHUNK)):
                self.content += chunk
                if len(self.content) > self._limit:
                    self.is_full = True
                    del self.content[: -self._limit if self._tail else None]
                    if not self._tail:
                        return


def _write(pipe: IO[bytes] | None, job: bytes) -> None:
    # A driver may ignore its input.
    with contextlib.suppress(OSError, ValueError):
        if pipe is not None:
            pipe.write(job)
    with contextlib.suppress(OSError, ValueError):
        if pipe is not None:
            pipe.close()


def _wait(child: processes.Child, output: _PipeReader, seconds: float) -> str:
    """Wait for the end of a process; return why it must be killed instead, or an empty string."""
    due = time.monotonic() + seconds
    while not output.is_full:
        left = due - time.monotonic()
        if left <= 0:
            return f"did not end within {seconds:g} seconds"
        try:
            # Short waits while output arrives, since a full pipe must end the driver, too.
            child.wait(min(left, 0.05) if output.is_alive() else left)
        except subprocess.TimeoutExpired:
            continue
        return ""
    return f"wrote more than {MAX_OUTPUT} bytes to its standard output"


def _close(child: processes.Child, *readers: _PipeReader) -> None:
    """Close the pipes that are read to their end; a pipe that a stray program still holds is left to its reader."""
    for pipe, reader in zip((child.stdout, child.stderr), readers, strict=True):
        if pipe is not None and not reader.is_alive():
            pipe.close()
