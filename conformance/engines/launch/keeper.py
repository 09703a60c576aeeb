"""Keeps one engine: starts it, writes its output to a bounded log, and ends it with everything that it started.

    python keeper.py LOG LIMIT GRACE COMMAND…

It stands between the command and the engine so that the engine ends in any case: standard input is a pipe whose other
end the command holds, and when that closes, because the command let go or was killed, the engine gets SIGTERM, and
after GRACE seconds SIGKILL. Processes that the engine's own children left behind are adopted and ended, too. The exit
code is the engine's, 128 and the number of the signal where one ended it. It needs the standard library alone.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

_ADOPT = 36
"""PR_SET_CHILD_SUBREAPER of Linux's <sys/prctl.h>: orphans of this process's descendants become its children."""


def main(arguments: list[str]) -> int:
    """Keep the engine until it ends or is to end."""
    log, limit, grace, *command = arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)
    try:
        engine = subprocess.Popen(  # noqa: S603 — the words are those of our own definitions
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        Path(log).write_text(f"{command[0]}: {error.strerror}\n")
        return 127
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    threading.Thread(target=_until_closed, args=(stop,), daemon=True).start()
    pump = threading.Thread(target=_pump, args=(engine.stdout, Path(log), int(limit)), daemon=True)
    pump.start()
    while engine.poll() is None and not stop.wait(0.05):
        pass
    _end(engine, float(grace))
    pump.join(1.0)
    return engine.returncode if engine.returncode >= 0 else 128 - engine.returncode


def _until_closed(stop: threading.Event) -> None:
    while os.read(0, 4096):
        pass
    stop.set()


def _pump(output: IO[bytes], log: Path, limit: int) -> None:
    """Write the output to the log; when that is full it becomes `<log>.old`, and what was there is gone."""
    file, written = log.open("wb"), 0
    while piece := os.read(output.fileno(), 65536):
        if written > limit:
            file.close()
            log.replace(log.with_name(f"{log.name}.old"))
            file, written = log.open("wb"), 0
        file.write(piece)
        file.flush()
        written += len(piece)
    file.close()


def _end(engine: "subprocess.Popen[bytes]", grace: float) -> None:
    """End the engine's group in peace, then by force, and then whatever has left the group."""
    _signal_group(engine.pid, signal.SIGTERM)
    due = time.monotonic() + grace
    while (engine.poll() is None or _descendants()) and time.monotonic() < due:
        _reap(engine)
        time.sleep(0.02)
    _signal_group(engine.pid, signal.SIGKILL)
    engine.wait()
    for _ in range(100):
        left = _descendants()
        if not left:
            return
        for pid in left:
            _signal(pid, signal.SIGKILL)
        time.sleep(0.02)
        _reap(engine)


def _reap(engine: "subprocess.Popen[bytes]") -> None:
    """Collect adopted children that have ended; the engine's own end is for the one who asks it."""
    for pid in _descendants():
        if pid != engine.pid:
            try:
                os.waitpid(pid, os.WNOHANG)
            except OSError:
                continue


def _descendants() -> list[int]:
    """Return the processes below this one; none where there is no /proc to read them from."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.parent.name)] = int(fields[1])
    found, fresh = [], [os.getpid()]
    while fresh:
        fresh = [pid for pid, parent in parents.items() if parent in fresh]
        found += fresh
    return found


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except OSError:
        return


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        return


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
