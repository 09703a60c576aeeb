"""What commands print for people beside their output: errors, colours and the progress of long runs."""

import os
import sys
import time
from typing import Final, TextIO

from conformance.reporting.text import Paint, printable

_CODES: Final = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_ERASE_LINE: Final = "\r\x1b[K"
_DELAY: Final = 2.0
"""Seconds before the first progress line."""
_INTERVAL: Final = 0.2
"""Seconds between progress lines."""


def print_error(message: str) -> None:
    """Print a message on standard error, always as one line and without the secrets of the environment."""
    # Imported here because a run without errors does not need it.
    from conformance.secrets import Unscrubbable, scrubber

    try:
        shown = scrubber().text(" ".join(message.splitlines()))
    except Unscrubbable as error:
        shown = str(error)
    print(f"conformance: {printable(shown)}", file=sys.stderr)


def painter(stream: TextIO | None = None) -> Paint:
    """Return a function that colours text if a stream is a terminal and NO_COLOR is not set (no-color.org).

    The stream is standard output by default.
    """
    if not is_terminal(stream or sys.stdout) or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return _unpainted
    return _painted


# No function inside another one, so that other processes can be sent it.
def _painted(colour: str, text: str) -> str:
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def _unpainted(_colour: str, text: str) -> str:
    return text


class ProgressLine:
    """A progress line on standard error, shown on terminals only.

    By default it is hidden if standard output is a terminal too, because the report would overwrite it. Set
    `report_at_end` if nothing is printed until the run has finished.
    """

    def __init__(self, *, report_at_end: bool = False) -> None:
        self._shows = is_terminal(sys.stderr) and (report_at_end or not is_terminal(sys.stdout))
        self._due = time.monotonic() + _DELAY
        self._drawn = False

    def show(self, text: str) -> None:
        """Replace the line by this text, unless the last one is too recent to be read."""
        if self._shows and (now := time.monotonic()) >= self._due:
            print(f"{_ERASE_LINE}{printable(text)}", end="", file=sys.stderr, flush=True)
            self._due, self._drawn = now + _INTERVAL, True

    def clear(self) -> None:
        """Erase the line before something else is printed."""
        if self._drawn:
            print(_ERASE_LINE, end="", file=sys.stderr, flush=True)
            self._drawn = False


class StatusTable:
    """Some lines at the end of the output of a terminal, which are drawn again and again."""

    def __init__(self, stream: TextIO, *, shows: bool) -> None:
        self._stream, self._shows = stream, shows
        self._due = 0.0
        self._drawn = 0
        self._text = ""

    def show(self, text: str) -> None:
        """Replace the lines by this text, unless they are the same or too recent to be read."""
        is_same = self._drawn and text == self._text
        if self._shows and not is_same and (now := time.monotonic()) >= self._due:
            self.clear()
            lines = [printable(line) for line in text.split("\n")]
            print("\n".join(lines), file=self._stream, flush=True)
            self._due, self._drawn, self._text = now + _INTERVAL, len(lines), text

    def clear(self) -> None:
        """Erase the lines before something else is printed."""
        if self._drawn:
            print(f"\x1b[{self._drawn}A\x1b[J", end="", file=self._stream, flush=True)
            self._drawn = 0


def columns(default: int) -> int:
    """Return how wide the terminal is, or what COLUMNS says; `default` for a pipe or a file."""
    # Imported here because most verbs print without asking, and every start would pay for it.
    import shutil

    return shutil.get_terminal_size((default, 0)).columns


def is_terminal(stream: object) -> bool:
    """Return True if a stream is a terminal."""
    # sys.stdout is None if the caller has closed it.
    return bool(getattr(stream, "isatty", lambda: False)())
