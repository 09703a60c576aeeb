"""The process of an engine: started, watched while it gets ready, and ended with its children."""

import ipaddress
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from conformance import processes
from conformance.environments import Log
from conformance.errors import Unusable

HOST: Final = "127.0.0.1"
"""The only address that engines may listen on."""

LOG_LIMIT: Final = 1024 * 1024
"""Bytes of an engine's output that its log holds; a full log replaces the one older log that is kept beside it."""

_TAIL_BYTES: Final = 4000
_POLL_SECONDS: Final = 0.1
_LOG_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class EngineProcess:
    """A running engine, its log and its process."""

    title: str
    log: Path
    child: processes.Child

    def exit_code(self) -> int | None:
        """Return the exit code of an engine that has ended (128 and the number of a signal), None while it runs."""
        code = self.child.poll()
        return code if code is None or code >= 0 else 128 - code

    def failure(self) -> Unusable:
        """Wait until the engine ends, and return the error that describes it."""
        self.child.wait()
        return Unusable(f"{self.title} ended unexpectedly with exit code {self.exit_code()}{self.tail()}")

    def tail(self) -> str:
        """Return the end of its log, introduced, for the end of a message."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            text = file.read().decode("utf-8", "replace").strip()
        return f"; the end of its log:\n{text}" if text else "; it wrote nothing"

    def wait_until_ready(self, url: str, seconds: float, log: Log) -> None:
        """Return as soon as the URL answers 200; raises Unusable if the engine ends or takes too long."""
        start = time.monotonic()
        next_log = start + _LOG_SECONDS
        # The user's proxies are for other hosts than this one.
        with httpx.Client(timeout=5.0, trust_env=False) as client:
            while True:
                code = self.exit_code()
                if code is not None:
                    raise Unusable(f"{self.title} ended during start-up with exit code {code}{self.tail()}")
                with suppress(httpx.HTTPError):
                    if client.get(url).status_code == 200:
                        return
                now = time.monotonic()
                if now - start > seconds:
                    raise Unusable(f"{self.title} did not answer at {url} within {seconds:g} seconds{self.tail()}")
                if now > next_log:
                    log(f"not ready after {now - start:.0f} of {seconds:g} seconds")
                    next_log = now + _LOG_SECONDS
                time.sleep(_POLL_SECONDS)

    def require_loopback(self, port: int) -> None:
        """Raise Unusable if the engine listens on a port of another address than loopback."""
        # Imported here because the list of engines need not wait for it.
        import psutil

        for process in psutil.Process(self.child.guard_pid).children(recursive=True):
            with suppress(psutil.Error):
                for socket_ in process.net_connections("inet"):
                    if socket_.status == psutil.CONN_LISTEN and socket_.laddr.port == port:
                        self._require_loopback_address(socket_.laddr.ip, port)

    def _require_loopback_address(self, text: str, port: int) -> None:
        address = ipaddress.ip_address(text)
        if not (getattr(address, "ipv4_mapped", None) or address).is_loopback:
            raise Unusable(f"{self.title} listens on port {port} of {text}; engines may listen on loopback only")


@contextmanager
def started(
    title: str, command: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path, grace: float
) -> Iterator[EngineProcess]:
    """Start an engine and end it with all its processes, whatever happens in between.

    `folder` is its working folder, which is for this run only. Raises Unusable if the engine cannot be started.
    """
    launch = processes.Launch(
        environment={**processes.inherited("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"), **environment},
        folder=folder,
        grace=grace,
        log=log,
        log_limit=LOG_LIMIT,
        scratch=folder,
    )
    with processes.Children() as children:
        try:
            child = children.start(command, launch)
        except OSError as error:
            raise Unusable(f"cannot start {title}: {command[0]}: {error.strerror}") from None
        yield EngineProcess(title, log, child)
        child.end()


def free_port(wanted: int = 0) -> int:
    """Return the port, or a free one for 0; raises Unusable if it is taken."""
    with socket.socket() as probe:
        # A server that has just ended leaves its port waiting, and the port can still be taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, wanted))
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise Unusable(
                f"cannot bind {HOST}:{wanted} ({reason}); choose another port, or 0 for a free one"
            ) from None
        port: int = probe.getsockname()[1]
    return port
