"""The user's command that runs beside an engine: it gets the engine's address and does not outlive it."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import orjson

from conformance import processes
from conformance.engines.serving import ServedEngine
from conformance.errors import Unusable
from conformance.suite.options import BASE_URL, ENGINE, MODEL

_GRACE: Final = 1.0
"""Seconds that a command has after Ctrl-C, which reaches it as well, before it is ended."""


def variables(served: ServedEngine) -> Mapping[str, str]:
    """Return the environment variables that direct a run of the suites to an engine."""
    engine = orjson.dumps({"engine": served.about, "hidden": served.hidden}).decode()
    return {BASE_URL: served.url, MODEL: served.model, ENGINE: engine}


def run(command: Sequence[str], served: ServedEngine) -> int:
    """Run a command to its end and return its exit code, or 128 and the number of the signal that ended it.

    Ctrl-C reaches the command directly; any other end of this process ends the command, and what it leaves behind ends
    with it. Raises Unusable if the command cannot be started.
    """
    launch = processes.Launch(environment={**os.environ, **variables(served)}, foreground=True)
    with processes.Children() as children:
        try:
            child = children.start(command, launch, stdin=None)
        except OSError as error:
            raise Unusable(f"cannot run {command[0]}: {error.strerror or error}") from None
        try:
            code = child.wait()
        except KeyboardInterrupt:
            with suppress(subprocess.TimeoutExpired):
                child.wait(_GRACE)
            raise
    return code if code >= 0 else 128 - code
