"""What the command says to a person: complaints, colour, and how far a long run is."""

import os
import sys
import time
from collections.abc import Callable
from typing import Final

from conformance.reporting.text import printable

_CODES: Final = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_ERASE_LINE: Final = "\r\x1b[K"
_PATIENCE: Final = 2.0
"""Seconds before a run counts as long."""
_PAUSE: Final = 0.2
"""Seconds from one word about it to the next."""


def complain(message: str) -> None:
    """Write one line to standard error, whatever the message holds."""
    print(f"conformance: {printable(' '.join(message.splitlines()))}", file=sys.stderr)


def painter() -> Callable[[str, str], str]:
    """Return what gives a text its colour: on a terminal that takes it, unless NO_COLOR is set (no-color.org)."""
    if not _is_terminal(sys.stdout) or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return lambda _colour, text: text
    return lambda colour, text: f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


class Progress:
    """How far a long run is, on standard error; silent where that is no terminal, or where the report runs over one.

    `waits`: the report comes at the end, so that it may go to the same terminal.
    """

    def __init__(self, *, waits: bool = False) -> None:
        self._shows = _is_terminal(sys.stderr) and (waits or not _is_terminal(sys.stdout))
        self._due = time.monotonic() + _PATIENCE
        self._drawn = False

    def tell(self, text: str) -> None:
        """Say where the run is; not more often than a person can read."""
        if self._shows and (now := time.monotonic()) >= self._due:
            print(f"{_ERASE_LINE}{printable(text)}", end="", file=sys.stderr, flush=True)
            self._due, self._drawn = now + _PAUSE, True

    def clear(self) -> None:
        """Take the line away, for something that is to stay."""
        if self._drawn:
            print(_ERASE_LINE, end="", file=sys.stderr, flush=True)
            self._drawn = False


def _is_terminal(stream: object) -> bool:
    # A stream that the caller has closed is None.
    return bool(getattr(stream, "isatty", lambda: False)())
