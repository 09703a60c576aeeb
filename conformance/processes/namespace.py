"""Makes a network that has nothing but loopback, and listens in it.

    python namespace.py CONTROL

It sends descriptors through the socket CONTROL: of a listening socket on 127.0.0.1, of the network namespace, and of
the user namespace that owns it, if one was needed. A process that accepts on that socket need not be in the namespace,
so the server stays where it is, and only its clients enter. If the system does not permit it, it sends the reason.
"""

import array
import ctypes
import errno
import fcntl
import os
import socket
import struct
import sys

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1


def _unshare(flags: int) -> None:
    # os.unshare is new in Python 3.12.
    if ctypes.CDLL(None, use_errno=True).unshare(flags):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _enter_new() -> list[str]:
    """Enter a new network and return the names of the new namespaces."""
    try:
        # Who may do so without a new user namespace keeps the rights to all files.
        _unshare(_CLONE_NEWNET)
    except PermissionError:
        user, group = os.geteuid(), os.getegid()
        _unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
        for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(line)
        return ["net", "user"]
    return ["net"]


def _listening() -> socket.socket:
    """Switch loopback on and return a socket that listens there."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    return socket.create_server(("127.0.0.1", 0), backlog=socket.SOMAXCONN)


def main(control: str) -> None:
    """Make the network and send its descriptors, or the reason why it cannot be made."""
    with socket.socket(fileno=int(control)) as other:
        try:
            names = _enter_new()
            descriptors = [_listening().detach(), *(os.open(f"/proc/self/ns/{name}", os.O_RDONLY) for name in names)]
        except OSError as error:
            # The kernel's words for a limit of namespaces are those for a full disk.
            reason = "the limit of namespaces is reached" if error.errno == errno.ENOSPC else error.strerror
            other.send((reason or str(error)).encode())
            return
        packed = array.array("i", descriptors)
        other.sendmsg([b"+"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, packed)])


if __name__ == "__main__":
    main(sys.argv[1])
