"""Texts that should be URLs: `urlsplit` and its results raise ValueError for some that are not."""

import ipaddress
import re
import socket
import unicodedata
from contextlib import suppress
from typing import Final
from urllib.parse import urljoin, urlsplit

_NUMERIC: Final = re.compile(r"[0-9a-fx.]+", re.IGNORECASE)
_PRIVATE: Final = ("localhost", "local", "internal")


class PrivateAddress(ValueError):
    """A redirect leads from a public host to this machine or its network."""


def is_url(text: str) -> bool:
    """Return True if a text can be taken apart as a URL, its port included."""
    try:
        _ = urlsplit(text).port
    except ValueError:
        return False
    return True


def host_of(url: str) -> str:
    """Return the host of a URL; empty if it has none or is not a URL."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_private(host: str) -> bool:
    """Return True for a host of this machine or its network, and for none; names are not looked up."""
    # Clients may take ① for 1.
    plain = unicodedata.normalize("NFKC", host).strip("[]").rstrip(".").lower()
    with suppress(ValueError):
        return not ipaddress.ip_address(plain).is_global
    # Resolvers also take 127.1, 2130706433 and 0x7f.0.0.1.
    if _NUMERIC.fullmatch(plain):
        with suppress(OSError):
            return not ipaddress.ip_address(socket.inet_aton(plain)).is_global
    return not plain or plain.rpartition(".")[2] in _PRIVATE


def redirected(address: str, location: str) -> str:
    """Return where a redirect leads, without a fragment; raises PrivateAddress, and ValueError if that is not a URL."""
    target = urljoin(address, location).partition("#")[0]
    if is_private(urlsplit(target).hostname or "") and not is_private(host_of(address)):
        raise PrivateAddress(f"redirects to a private address: {target}")
    return target
