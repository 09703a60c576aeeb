"""The owner of child processes: each is registered when it starts, and none outlives the owner or this process."""

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, TypeVar

from conformance.errors import Unusable
from conformance.processes.signals import signals_held, unwinding_on_signals

Code = TypeVar("Code", int, int | None)

END_SECONDS: Final = 0.8
"""How long children have to end after an error or a signal, before they are killed."""

_GUARD: Final = Path(__file__).with_name("guard.py")
_KILL_SECONDS: Final = 5.0
"""How long a guard has to kill what it guards; it takes milliseconds, unless the machine is out of memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a program is started.

    `environment` replaces that of this process, `folder` its working folder. `grace` is the time between SIGTERM and
    SIGKILL in seconds, where the program has to end; a `patient` one gets no SIGTERM, since it ends with its input. A
    `foreground` program stays in the session of this process, so that Ctrl-C reaches it. Its output goes to `log`,
    bounded by `log_limit` bytes; without one, to that of this process. If this process is killed, the guard removes the
    folder `scratch`. `namespaces` are descriptors of those that it enters (Linux).
    """

    environment: Mapping[str, str] | None = None
    folder: Path | None = None
    grace: float = 0.0
    patient: bool = False
    foreground: bool = False
    log: Path | None = None
    log_limit: int = 0
    scratch: Path | None = None
    namespaces: tuple[int, ...] = ()


@dataclass(slots=True)
class GuardedCommand:
    """A command under a guard, ready to be started with `subprocess` or `asyncio`, and the way to end it.

    `words` and `options` are for `Popen` or `create_subprocess_exec`; call `confirm` with its id once it is started.
    """

    words: tuple[str, ...]
    options: dict[str, Any]
    grace: float
    program: int = 0
    """The id of the program itself."""

    _control: socket.socket | None = field(default=None, repr=False)
    _given: socket.socket | None = field(default=None, repr=False)

    @classmethod
    def of(cls, command: Sequence[str], launch: Launch) -> "GuardedCommand":
        """Return the command; on Windows there is no guard, but a job object that ends it with this process."""
        options: dict[str, Any] = {"cwd": launch.folder, "env": launch.environment}
        if sys.platform == "win32":
            return cls(tuple(command), options, launch.grace)
        control, given = socket.socketpair()
        words = [
            *(sys.executable, "-I", "-S", str(_GUARD)),
            *(str(given.fileno()), str(os.getpid())),
            *(str(0 if launch.patient else int(signal.SIGTERM)), f"{launch.grace:g}", str(int(not launch.foreground))),
            *(",".join(map(str, launch.namespaces)), str(launch.log or ""), str(launch.log_limit)),
            str(launch.scratch or ""),
            str(int("LC_CTYPE" in (os.environ if launch.environment is None else launch.environment))),
            *command,
        ]
        options["pass_fds"] = (given.fileno(), *launch.namespaces)
        options["start_new_session"] = not launch.foreground
        return cls(tuple(words), options, launch.grace, _control=control, _given=given)

    def confirm(self, pid: int) -> None:
        """Wait until the program runs; raises OSError, as `Popen` does, if it cannot be started."""
        if self._control is None or self._given is None:
            self.program = pid
            _bind_to_this_process(pid)
            return
        self._given.close()
        said = ""
        with suppress(OSError):
            said = self._control.recv(64).decode().strip()
        if said.startswith("P"):
            self.program = int(said[1:])
            return
        # A guard that says nothing was killed.
        number = int(said[1:] or errno.ECHILD)
        raise OSError(number, os.strerror(number))

    def end(self) -> None:
        """Ask for the end of the program: SIGTERM, and SIGKILL after its grace."""
        self._send(b"T")

    def kill(self) -> None:
        """Ask for the end of the program at once."""
        self._send(b"K")

    def close(self) -> None:
        """Let go of the guard, which then ends the program if that still runs."""
        for end in (self._control, self._given):
            if end is not None:
                end.close()

    def _send(self, word: bytes) -> None:
        # What has ended needs no word.
        with suppress(OSError):
            if self._control is not None:
                self._control.send(word)
            elif self.program:
                # On Windows, this ends a process at once.
                os.kill(self.program, signal.SIGTERM)


class Child:
    """A running program under its guard; `pid` is the program's own id."""

    def __init__(self, process: "subprocess.Popen[bytes]", command: GuardedCommand) -> None:
        self._process, self._command = process, command
        self.pid = command.program
        self.stdin: IO[bytes] | None = process.stdin
        self.stdout: IO[bytes] | None = process.stdout
        self.stderr: IO[bytes] | None = process.stderr

    @property
    def guard_pid(self) -> int:
        """The id of the process that everything descends from that the program has started."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code of the program, or the negative number of the signal that ended it; None while it runs."""
        return self._process.returncode

    def poll(self) -> int | None:
        """Return the exit code, None while the program or something that it started runs."""
        return self._noted(self._process.poll())

    def wait(self, seconds: float | None = None) -> int:
        """Wait until the program has ended with all that it started; raises subprocess.TimeoutExpired."""
        return self._noted(self._process.wait(seconds))

    def communicate(self, seconds: float) -> tuple[bytes, bytes]:
        """Return all output and errors, as far as they are piped; raises subprocess.TimeoutExpired."""
        written = self._process.communicate(timeout=seconds)
        self._command.close()
        return written

    def ask_to_end(self) -> None:
        """Send SIGTERM, and SIGKILL after the grace, without waiting."""
        self._command.end()

    def end(self) -> int:
        """End the program with all that it started, within its grace, and return its exit code."""
        self.ask_to_end()
        return self._wait_or_kill(self._command.grace + _KILL_SECONDS)

    def kill(self) -> int:
        """Kill the program with all that it started, and return its exit code."""
        self._command.kill()
        return self._wait_or_kill(_KILL_SECONDS)

    def abandon(self) -> None:
        """Kill the program and close its pipes, whatever is left in them."""
        self.kill()
        _discard(self._process)

    def _wait_or_kill(self, seconds: float) -> int:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            # The guard hangs or is stopped; on Linux the program ends with it.
            with suppress(OSError):
                os.kill(self.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
            self._process.kill()
        return self._noted(self._process.wait())

    def _noted(self, code: Code) -> Code:
        """Let go of the guard if it has ended."""
        if code is not None:
            self._command.close()
        return code


class Children:
    """Owns child processes inside a `with` block, whose end ends them all.

    If an error or a signal ends the block, they have END_SECONDS to end; if this process is killed, their guards end
    them. It may be used from several threads.
    """

    def __init__(self) -> None:
        self._living: list[Child] = []
        self._commands: list[GuardedCommand] = []
        self._lock = threading.Lock()
        self._is_closed = False
        self._stack = ExitStack()

    def __enter__(self) -> "Children":
        self._stack.enter_context(unwinding_on_signals())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._stack, signals_held():
            self._close()

    def start(
        self,
        command: Sequence[str],
        launch: Launch,
        *,
        stdin: int | None = subprocess.DEVNULL,
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> Child:
        """Start a program; raises OSError if that fails, and Unusable if the owner ends its children already."""
        with self._lock:
            if self._is_closed:
                message = "nothing is started any more, because the run ends"
                raise Unusable(message)
            self._living = [each for each in self._living if each.poll() is None]
            guarded = GuardedCommand.of(command, launch)
            try:
                process = subprocess.Popen(  # noqa: S603 — the words are those of definitions and of the user
                    guarded.words, stdin=stdin, stdout=stdout, stderr=stderr, **guarded.options
                )
            except BaseException:
                guarded.close()
                raise
            child = Child(process, guarded)
            self._living.append(child)
        try:
            guarded.confirm(process.pid)
        except OSError:
            _discard(process)
            guarded.close()
            raise
        child.pid = guarded.program
        return child

    def prepare(self, command: Sequence[str], launch: Launch) -> GuardedCommand:
        """Return a command for an event loop to start; whoever starts it waits for it, and this owner ends it."""
        guarded = GuardedCommand.of(command, launch)
        with self._lock:
            self._commands.append(guarded)
        return guarded

    def _close(self) -> None:
        with self._lock:
            self._is_closed = True
            living = [each for each in self._living if each.poll() is None]
            for command in self._commands:
                command.close()
        for child in living:
            child.ask_to_end()
        due = time.monotonic() + END_SECONDS
        for child in living:
            with suppress(subprocess.TimeoutExpired):
                child.wait(max(0.0, due - time.monotonic()))
        for child in living:
            child.kill()


def _discard(process: "subprocess.Popen[bytes]") -> None:
    """Wait for a process and close its pipes."""
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _bind_to_this_process(pid: int) -> None:
    """Let Windows end a process when this one ends."""
    if sys.platform == "win32":
        from conformance.processes.windows import end_with_this_process

        end_with_this_process(pid)
