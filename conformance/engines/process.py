"""The process of an engine: started in a session of its own, watched while it gets ready, and ended without a rest."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from conformance.engines.definition import FOLDER
from conformance.environments import Told
from conformance.errors import Unusable

HOST: Final = "127.0.0.1"
"""Engines are asked to listen there and nowhere else."""

LOG_LIMIT: Final = 1024 * 1024
"""Bytes of an engine's output that its log holds; when it is full one older log of that size is kept beside it."""

_KEEPER: Final = FOLDER / "launch" / "keeper.py"
_TAIL_BYTES: Final = 4000
_LISTENS: Final = "0A"
"""TCP_LISTEN, as /proc/net/tcp writes the state of a socket."""
_LOOPBACK: Final = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")
"""127.0.0.1, ::1 and ::ffff:127.0.0.1, as /proc/net writes them on a little-endian machine."""
_POLL: Final = 0.1
_TELL: Final = 10.0
_KEEPERS_GRACE: Final = 60.0
"""Seconds that the keeper has beyond the engine's own: who kills it before its time leaves what it would have ended."""
_PASSED_ON: Final = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Variables of the user that an engine is given: none that is known to hold a key."""


@dataclass(frozen=True, slots=True)
class Running:
    """An engine under way."""

    title: str
    log: Path
    keeper: "subprocess.Popen[bytes]"

    def exit_code(self) -> int | None:
        """Return the exit code of an engine that has ended (128 and the number of a signal), None while it runs."""
        return self.keeper.poll()

    def failure(self) -> Unusable:
        """Wait until the engine ends, and return what is to be said of that."""
        return Unusable(f"{self.title} ended before its time, with exit code {self.keeper.wait()}{self.tail()}")

    def tail(self) -> str:
        """Return the end of what it wrote, on lines of its own; empty where it wrote nothing."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            text = file.read().decode("utf-8", "replace").strip()
        return f"; the end of its log:\n{text}" if text else "; it wrote nothing"

    def wait_until_ready(self, url: str, seconds: float, told: Told) -> None:
        """Return as soon as the URL answers 200; raises Unusable where it ends before or takes too long."""
        start = time.monotonic()
        tell = start + _TELL
        # The user's proxies are for other hosts than this one.
        with httpx.Client(timeout=5.0, trust_env=False) as client:
            while True:
                code = self.exit_code()
                if code is not None:
                    raise Unusable(f"{self.title} ended at the start with exit code {code}{self.tail()}")
                with suppress(httpx.HTTPError):
                    if client.get(url).status_code == 200:
                        return
                now = time.monotonic()
                if now - start > seconds:
                    raise Unusable(f"{self.title} does not answer at {url} within {seconds:g} seconds{self.tail()}")
                if now > tell:
                    told(f"is not ready after {now - start:.0f} seconds, of {seconds:g}")
                    tell = now + _TELL
                time.sleep(_POLL)


@contextmanager
def started(
    title: str, command: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path, grace: float
) -> Iterator[Running]:
    """Start an engine and end it with all its processes, whatever happens in between; see `launch/keeper.py`."""
    words = [sys.executable, "-I", "-S", str(_KEEPER), str(log), str(LOG_LIMIT), f"{grace:g}", *command]
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    keeper = subprocess.Popen(  # noqa: S603 — the words are those of our own definitions
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={**passed_on, **environment},
        start_new_session=True,
    )
    try:
        yield Running(title, log, keeper)
    finally:
        _end(keeper, grace)


def _end(keeper: "subprocess.Popen[bytes]", grace: float) -> None:
    """Close the keeper's input, which is its sign to end the engine, and wait for it, whatever Ctrl-C says."""
    if keeper.stdin is not None:
        with suppress(OSError):
            keeper.stdin.close()
    before = _deaf()
    try:
        keeper.wait(grace + _KEEPERS_GRACE)
    except subprocess.TimeoutExpired:
        keeper.kill()
        keeper.wait()
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _deaf() -> "signal._HANDLER | None":
    """Ignore Ctrl-C and return what is to be put back; only the main thread may."""
    try:
        return signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:
        return None


def require_loopback(title: str, port: int) -> None:
    """Raise Unusable where a port is listened on beyond loopback; what no /proc tells is not known."""
    for name in ("tcp", "tcp6"):
        table = Path("/proc/net") / name
        for line in table.read_text().splitlines()[1:] if table.exists() else ():
            address, _, at = line.split()[1].partition(":")
            if line.split()[3] == _LISTENS and int(at, 16) == port and address not in _LOOPBACK:
                raise Unusable(f"{title} listens on port {port} beyond loopback, which no engine here may")


def free_port(wanted: int = 0) -> int:
    """Return the port, or a free one for 0; raises Unusable where somebody listens there already."""
    with socket.socket() as probe:
        # A server that has just ended leaves its port waiting; that is no reason not to take it.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, wanted))
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise Unusable(f"port {wanted} of {HOST} cannot be had ({reason}); choose another, or 0") from None
        port: int = probe.getsockname()[1]
    return port
