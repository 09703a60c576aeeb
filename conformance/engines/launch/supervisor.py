"""Runs one engine, writes its output to a bounded log, and ends it with everything that it started.

    python supervisor.py LOG LIMIT GRACE COMMAND…

It stands between the command line and the engine, so that the engine ends in any case: standard input is a pipe whose
other end the command line holds. When that closes, because the command line ends or is killed, the engine gets SIGTERM,
and SIGKILL after GRACE seconds. So do processes that the engine leaves behind: on Linux the supervisor adopts them. The
exit code is the engine's; it is 128 and the number of the signal if one ended it. It imports nothing of this project.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

import psutil

_PR_SET_CHILD_SUBREAPER = 36
"""From Linux's <sys/prctl.h>: orphans of this process's descendants become its children."""

_KILL_ROUNDS = 20


def main(arguments: list[str]) -> int:
    """Run the engine until it ends or must end, and return its exit code."""
    log, limit, grace, *command = arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        engine = psutil.Popen(
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
    threading.Thread(target=_wait_until_closed, args=(stop,), daemon=True).start()
    writer = threading.Thread(target=_write_log, args=(engine.stdout, Path(log), int(limit)), daemon=True)
    writer.start()
    while engine.poll() is None and not stop.wait(0.05):
        pass
    _end(engine, float(grace))
    writer.join(1.0)
    code = engine.wait()
    return code if code >= 0 else 128 - code


def _wait_until_closed(stop: threading.Event) -> None:
    while os.read(0, 4096):
        pass
    stop.set()


def _write_log(output: IO[bytes], log: Path, limit: int) -> None:
    """Write the output to the log; a full log is renamed to `<log>.old`, which replaces an older one."""
    file, written = log.open("wb"), 0
    while chunk := os.read(output.fileno(), 65536):
        if written > limit:
            file.close()
            log.replace(log.with_name(f"{log.name}.old"))
            file, written = log.open("wb"), 0
        file.write(chunk)
        file.flush()
        written += len(chunk)
    file.close()


def _end(engine: psutil.Popen, grace: float) -> None:
    """Terminate the engine's process group, then kill whatever is left, in the group or out of it."""
    _signal_group(engine, signal.SIGTERM)
    due = time.monotonic() + grace
    while (left := _descendants(engine)) and time.monotonic() < due:
        psutil.wait_procs(left, timeout=0.1)
    _signal_group(engine, signal.SIGKILL)
    for _ in range(_KILL_ROUNDS):
        left = _descendants(engine)
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if not left:
            return
        psutil.wait_procs(left, timeout=0.1)


def _descendants(engine: psutil.Popen) -> list[psutil.Process]:
    """Return the processes below this one; the engine as the object that remembers its exit code."""
    found = psutil.Process().children(recursive=True)
    return [engine if process.pid == engine.pid else process for process in found]


def _signal_group(engine: psutil.Popen, number: int) -> None:
    with suppress(OSError):
        os.killpg(engine.pid, number)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
