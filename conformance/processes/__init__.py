"""Child processes: what they inherit, how they run to their end, and one owner that ends them."""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from conformance.errors import Unusable
from conformance.processes.children import Child, Children, GuardedCommand, Launch
from conformance.processes.network import LoopbackNetwork, loopback_network
from conformance.processes.signals import EXITING, noticing_signals, unwinding_on_signals
from conformance.processes.threads import results_in_order

__all__ = (
    "EXITING",
    "Child",
    "Children",
    "GuardedCommand",
    "Launch",
    "LoopbackNetwork",
    "inherited",
    "loopback_network",
    "noticing_signals",
    "output",
    "results_in_order",
    "run",
    "unwinding_on_signals",
)

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
        code, printed, _ = output(command, seconds, environment)
    except subprocess.TimeoutExpired:
        message = f"{failure}: it did not end within {seconds:g} seconds"
        raise Unusable(message) from None
    if code:
        lines = [line for line in printed.decode("utf-8", "replace").splitlines() if line.strip()]
        if cause is not None and (found := cause(lines)):
            raise Unusable(f"{failure}: {found}")
        shown = "\n".join(lines[-_LAST_LINES:])[-_LAST_CHARACTERS:] or "it wrote nothing"
        raise Unusable(f"{failure} (exit code {code}): {shown}")


def output(
    command: Sequence[str],
    seconds: float,
    environment: Mapping[str, str] | None = None,
    *,
    errors: int = subprocess.STDOUT,
) -> tuple[int, bytes, bytes]:
    """Run a command to its end, and return its exit code, its output and its errors, which by default are among it.

    Raises OSError if it cannot be started, and subprocess.TimeoutExpired.
    """
    with Children() as children:
        child = children.start(command, Launch(environment=environment), stdout=subprocess.PIPE, stderr=errors)
        try:
            printed, said = child.communicate(seconds)
        except BaseException:
            child.abandon()
            raise
        return child.wait(), printed, said or b""
