"""A network of loopback only for child processes, which reach one server of this process there and nothing else."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_MAKER: Final = Path(__file__).with_name("namespace.py")
_SECONDS: Final = 20.0
_MAX_DESCRIPTORS: Final = 3


@dataclass(frozen=True, slots=True)
class LoopbackNetwork:
    """A network, and a socket that listens in it for a server of this process.

    `namespaces` are descriptors for `Launch`. If the system permits no such network, `listener` is None and `reason`
    says why.
    """

    listener: socket.socket | None = None
    namespaces: tuple[int, ...] = ()
    reason: str = ""


@contextmanager
def loopback_network() -> Iterator[LoopbackNetwork]:
    """Yield a new network, which exists until the block ends and the last process in it has ended."""
    if sys.platform != "linux":
        yield LoopbackNetwork(reason="only Linux has network namespaces")
        return
    descriptors, reason = _made()
    if not descriptors:
        yield LoopbackNetwork(reason=reason)
        return
    listener = socket.socket(fileno=descriptors[0])
    # The namespace of users comes first: it has the right to enter the other one.
    namespaces = tuple(reversed(descriptors[1:]))
    try:
        yield LoopbackNetwork(listener, namespaces)
    finally:
        for each in namespaces:
            os.close(each)
        with suppress(OSError):
            listener.close()


def _made() -> tuple[list[int], str]:
    """Return the descriptors of a new network, or why there are none."""
    control, given = socket.socketpair()
    with control:
        with given:
            # It takes milliseconds, and ends by itself if this process ends meanwhile.
            maker = subprocess.Popen(  # noqa: S603 — our own program
                [sys.executable, "-I", "-S", str(_MAKER), str(given.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(given.fileno(),),
            )
        control.settimeout(_SECONDS)
        try:
            said, descriptors, _, _ = socket.recv_fds(control, 256, _MAX_DESCRIPTORS)
        except TimeoutError:
            said, descriptors = b"it took too long", []
        finally:
            maker.kill()
            maker.wait()
    return descriptors, said.decode("utf-8", "replace") or "it cannot be made here"
