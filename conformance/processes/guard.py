"""Runs one program, and ends it with everything that it started: at the latest when the process that wants it ends.

    python guard.py CONTROL PARENT ASK GRACE SESSION NAMESPACES LOG LIMIT SCRATCH LOCALE COMMAND…

CONTROL is the descriptor of a socket whose other end that process, PARENT, holds. The guard writes the program's id to
it, or the number of the error that kept it from starting. It reads `T` (end the program: the signal ASK, and SIGKILL
after GRACE seconds) and `K` (kill it now); the end of the stream, because PARENT ends, means the same as `T`.
What a program leaves behind ends with it: on Linux the guard adopts what leaves the program's session, so that nothing
escapes; elsewhere it kills the program's process group and what still descends from it.

SESSION is 1 for a program with a session of its own, which Ctrl-C at the terminal does not reach. NAMESPACES are
descriptors of namespaces that the program enters, separated by commas. With LOG the program's output goes to a file;
at LIMIT bytes it is renamed to `<log>.old`. SCRATCH is a folder that the guard removes if PARENT was killed. LOCALE is
1 if the program inherits LC_CTYPE. All but numbers may be empty.

The exit code is the program's, and a signal that ended the program ends the guard. To start fast, it imports nothing of
this project.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
"""From Linux's <sys/prctl.h>: orphans of this process's descendants become its children."""

_NOTICED = tuple([getattr(signal, f"SIG{name}") for name in ("CHLD", "TERM", "INT", "HUP", "QUIT")])
_RESTORED = tuple([getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name)])
_ROUND_SECONDS = 0.05
_KILL_SECONDS = 3.0
_FAILED = 127


class _Log:
    """A bounded log, and the pipe that fills it."""

    def __init__(self, path: str, limit: int) -> None:
        self.path, self.limit, self.written = path, limit, 0
        self.output, self.given = os.pipe()
        self.file = self._create()

    def copy(self) -> bool:
        """Copy what the pipe holds; return False at its end."""
        chunk = os.read(self.output, 65536)
        try:
            self._write(chunk)
        except OSError:
            # A full disk costs the log, and neither the program nor its end.
            self.written = 0
        return bool(chunk)

    def _write(self, chunk: bytes) -> None:
        if self.written > self.limit:
            os.close(self.file)
            os.replace(self.path, f"{self.path}.old")
            self.file, self.written = self._create(), 0
        os.write(self.file, chunk)
        self.written += len(chunk)

    def _create(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)


class _Guard:
    """The guard of one program."""

    def __init__(self, control: int, parent: int, log: _Log | None, *, session: bool) -> None:
        self.control, self.parent, self.log, self.session = control, parent, log, session
        self.program = 0
        self.status: int | None = None
        self.must_end = self.must_kill = False
        self.poll = select.poll()
        self.woken, waker = os.pipe()
        for each in (self.woken, waker):
            os.set_blocking(each, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        for number in _NOTICED:
            # A signal that the program shall ignore, as after `nohup`, stays ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda *_: None)
        for watched in (self.woken, control, *([log.output] if log else [])):
            self.poll.register(watched, select.POLLIN)

    def start(self, command: list[str]) -> int:
        """Start the program; return the number of the error that kept it from starting, or 0."""
        failed, failure = os.pipe()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _NOTICED)
        guard = os.getpid()
        self.program = os.fork()
        if not self.program:
            self._become(command, guard, mask, failure)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.close(failure)
        if self.log:
            os.close(self.log.given)
        # The pipes of the program must end when it does.
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nowhere, standard)
        return int(os.read(failed, 16) or 0)

    def _become(self, command: list[str], guard: int, mask: set[int | signal.Signals], failure: int) -> None:
        try:
            if self.session:
                os.setsid()
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == guard:
                for number in (*_NOTICED, *_RESTORED):
                    if number in _RESTORED or signal.getsignal(number) is not signal.SIG_IGN:
                        signal.signal(number, signal.SIG_DFL)
                if self.log:
                    os.dup2(self.log.given, 1)
                    os.dup2(self.log.given, 2)
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                os.execvp(command[0], command)  # noqa: S606 — a shell would be one more process
        except OSError as error:
            os.write(failure, str(error.errno).encode())
        finally:
            os._exit(_FAILED)

    def watch(self, ask: int, grace: float) -> int:
        """Wait for the end of the program or the request to end it, end it with all else, and return its status."""
        # The parent may have ended before this process asked for its signal.
        self.must_end = os.getppid() != self.parent
        while self.status is None and not self.must_end:
            self._step(None)
        self._end(ask, grace)
        while self.log and select.select([self.log.output], [], [], 0)[0] and self.log.copy():
            pass
        return _FAILED << 8 if self.status is None else self.status

    def _end(self, ask: int, grace: float) -> None:
        """Ask the program and what it started to end, then kill whatever is left."""
        if self._has_left() and not self.must_kill:
            self._signal(ask)
        due = time.monotonic() + grace
        while self._has_left() and not self.must_kill and time.monotonic() < due:
            self._step(_ROUND_SECONDS)
        due = time.monotonic() + _KILL_SECONDS
        while self._has_left() and time.monotonic() < due:
            # Again and again, since a process may start another one meanwhile.
            self._signal(signal.SIGKILL)
            self._step(_ROUND_SECONDS)

    def _step(self, seconds: float | None) -> None:
        """Wait for news, at most some seconds, and note them."""
        ready = [each for each, _ in self.poll.poll(None if seconds is None else 1000 * seconds)]
        if self.woken in ready:
            os.read(self.woken, 512)
        if self.log and self.log.output in ready and not self.log.copy():
            self.poll.unregister(self.log.output)
        if self.control in ready:
            self._obey()
        self.must_end = self.must_end or os.getppid() != self.parent
        self._has_left()

    def _obey(self) -> None:
        try:
            words = os.read(self.control, 16)
        except OSError:
            words = b""
        if not words:
            self.poll.unregister(self.control)
        self.must_end = True
        self.must_kill = self.must_kill or b"K" in words

    def _has_left(self) -> bool:
        """Take note of what has ended, and return whether anything is left."""
        try:
            while True:
                ended, status = os.waitpid(-1, os.WNOHANG)
                if ended == 0:
                    return True
                if ended == self.program:
                    self.status = status
        except ChildProcessError:
            # Elsewhere than on Linux, orphans are nobody's children here, and only the group has them.
            return sys.platform != "linux" and self.session and _send(os.killpg, self.program, 0)

    def _signal(self, number: int) -> None:
        """Send a signal to the program's process group and to all that descends from this process."""
        if self.session:
            _send(os.killpg, self.program, number)
        for descendant in _descendants(os.getpid()):
            _send(os.kill, descendant, number)


def _descendants(top: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for child, parent in _processes():
        children.setdefault(parent, []).append(child)
    found = [top]
    for each in found:
        found += children.get(each, ())
    return found[1:]


def _processes() -> list[tuple[int, int]]:
    """Return the ids of all processes, each with that of its parent."""
    if sys.platform != "linux":
        with os.popen("ps -A -o pid=,ppid=") as listed:  # noqa: S605, S607 — no word of it is given
            return [(int(pid), int(parent)) for pid, parent in map(str.split, listed)]
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    # The name of a program, in parentheses, may hold anything.
                    found.append((int(name), int(file.read().rpartition(b")")[2].split()[1])))
            except OSError:
                continue
    return found


def _send(send: "Callable[[int, int], None]", target: int, number: int) -> bool:
    """Send a signal; return False if there is nothing to send it to."""
    try:
        send(target, number)
    except OSError:
        return False
    return True


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _enter(namespace: int) -> None:
    # os.setns is new in Python 3.12.
    if ctypes.CDLL(None, use_errno=True).setns(namespace, 0):
        raise OSError(ctypes.get_errno(), "setns")
    os.close(namespace)


def main(arguments: list[str]) -> int:
    """Run the program to its end, and return its status as `os.waitpid` does."""
    control, parent, ask, grace, session, namespaces, log, limit, scratch, locale, *command = arguments
    os.set_inheritable(int(control), False)  # noqa: FBT003 — it takes no keyword
    if locale == "0":
        # Python sets it in a process without a locale.
        os.environ.pop("LC_CTYPE", None)
    guard = _Guard(int(control), int(parent), _Log(log, int(limit)) if log else None, session=session == "1")
    try:
        for namespace in filter(None, namespaces.split(",")):
            _enter(int(namespace))
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        # After the namespaces, since new credentials clear it. The signal comes at the end of a *thread*, so the guard
        # looks for its parent whenever there is a signal.
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        failure = guard.start(command)
    except OSError as error:
        failure = error.errno or 1
    try:
        os.write(int(control), f"E{failure}\n".encode() if failure else f"P{guard.program}\n".encode())
    except OSError:
        guard.must_end = True
    status = _FAILED << 8 if failure else guard.watch(int(ask), float(grace))
    if scratch and os.getppid() != guard.parent:
        _remove(scratch)
    return status


def _remove(folder: str) -> None:
    # Imported here because it takes as long as all else, and only a guard whose parent was killed needs it.
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _exit_as(status: int) -> None:
    """End this process in the way in which another one has ended."""
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        number = os.WTERMSIG(status)
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


if __name__ == "__main__":
    _exit_as(main(sys.argv[1:]))
