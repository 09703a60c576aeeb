"""Runs the driver of a Python SDK for job after job: it is imported once, and each job gets a fork of its own.

It runs in the environment of the SDK: `python fork.py DRIVER SHARED`. Each line of the standard input is a job with
`seconds`; each line of the output is the answer of the driver, or `{"failure": …}`, `{"hang": true}`.
"""

import builtins
import contextlib
import importlib
import io
import json
import os
import runpy
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any


def answer_in(content: bytes) -> str:
    """Return the line with the answer of the driver; before it may stand what the SDK prints."""
    lines = content.split(b"\n")[:-1]
    return next((line.decode() for line in lines if line.startswith(b'{"texts"')), "")


def ask(once: Any, talk: Any, packages: Any, line: str, seconds: float, used: Path | None = None) -> str:
    """Return the answer to a job as a line of JSON; `used` gets the names of the modules that the job imported."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.setsid()
        os.dup2(writing, 1)
        sys.stdin, sys.stdout = io.StringIO(line), os.fdopen(1, "w")
        if used:
            _note_imports(used)
        try:
            once(talk, *packages)
        finally:
            os._exit(1)
    os.close(writing)
    due, content = time.monotonic() + seconds, b""
    while not (answer := answer_in(content)) and (left := due - time.monotonic()) > 0:
        if select.select([reading], [], [], left)[0]:
            chunk = os.read(reading, 65536)
            content += chunk
            if not chunk:
                break
    os.close(reading)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    if answer:
        return answer
    return json.dumps({"hang": True} if time.monotonic() >= due else {"failure": "the driver printed no answer"})


def _note_imports(used: Path) -> None:
    """Write what is imported from now on to a file before the answer is printed."""
    before, printed = set(sys.modules), builtins.print

    def noted(*texts: Any, **how: Any) -> None:
        used.write_text("\n".join([name for name in sys.modules if name not in before]), "utf-8")
        printed(*texts, **how)

    builtins.print = noted


def import_again(used: Path) -> None:
    """Import here what a job imported, so that later jobs find it loaded."""
    for name in used.read_text("utf-8").split("\n") if used.exists() else ():
        # Some names are made by a module as it runs; an SDK may raise anything while one of its extras is missing.
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def main(path: str, shared: str) -> None:
    """Import the driver, then answer jobs until the input ends."""
    sys.path.insert(0, shared)
    driving: Any = __import__("driving")
    once, found = driving.drive, []
    driving.drive = lambda talk, *packages: found.append((talk, packages))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    runpy.run_path(path, run_name="__main__")
    (talk, packages) = found[0]
    used = Path.cwd() / "imported.txt"
    for number, line in enumerate(sys.stdin):
        answer = ask(once, talk, packages, line, json.loads(line)["seconds"], None if number else used)
        print(answer, file=answers, flush=True)
        if not number:
            import_again(used)


if __name__ == "__main__":
    main(*sys.argv[1:])
