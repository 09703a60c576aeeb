"""Texts that should be URLs: `urlsplit` and its results raise ValueError for some that are not."""

from urllib.parse import urlsplit


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
