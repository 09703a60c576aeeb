"""Runs the driver of a Python SDK for job after job: it is imported once, and each job gets a fork of its own.

It runs in the environment of the SDK: `python fork.py DRIVER SHARED`. Each line of the standard input is a job with
`seconds`; each line of the output is the answer of the driver, or `{"failure": …}`, `{"hang": true}`.
"""

import contextlib
import io
import json
import os
import runpy
import select
import signal
import sys
import time
from typing import Any


def answer_in(content: bytes) -> str:
    """Return the line with the answer of the driver; before it may stand what the SDK prints."""
    lines = content.split(b"\n")[:-1]
    return next((line.decode() for line in lines if line.startswith(b'{"texts"')), "")


def ask(once: Any, talk: Any, packages: Any, line: str, seconds: float) -> str:
    """Return the answer to a job as a line of JSON."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.setsid()
        os.dup2(writing, 1)
        sys.stdin, sys.stdout = io.StringIO(line), os.fdopen(1, "w")
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
    for line in sys.stdin:
        print(ask(once, talk, packages, line, json.loads(line)["seconds"]), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
