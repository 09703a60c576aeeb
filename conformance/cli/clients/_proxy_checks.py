"""The process of `conformance proxy` that checks: it reads copies from standard input, and prints.

It ends when its input does, whatever ends the proxy.
"""

import queue
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Final

from conformance import profiles
from conformance.errors import ConformanceError
from conformance.fidelity import Difference
from conformance.proxy.checking import Checking, Settings, settings_of
from conformance.proxy.copies import Frame, read_frame
from conformance.proxy.judging import Judged, RuleFinding
from conformance.proxy.layers import FieldChange
from conformance.proxy.repeats import RepeatedBodies
from conformance.proxy.tape import WRITE_SECONDS, Tape
from conformance.reporting.renderers import traffic
from conformance.reporting.text import printable
from conformance.results import Level
from conformance.secrets import STAYS, Unscrubbable
from conformance.terminal import StatusTable, painter, print_error

_READ_AHEAD: Final = 16
"""How many frames are read before they are checked; further ones wait in the proxy, which counts them."""

_NOTHING: Final = 5
_LEAST: Final = {"must": Level.MUST.severity, "should": Level.SHOULD.severity, "never": 1 + Level.MUST.severity}


class _Screen:
    """Prints on standard error, without the keys that the run has seen, and redraws the table."""

    def __init__(self, *, has_table: bool) -> None:
        self.checking: Checking | None = None
        self._table = StatusTable(sys.stderr, shows=has_table)
        self._paint = painter(sys.stderr)

    def finding(self, judged: Judged, found: RuleFinding, tap: str, layer: str) -> None:
        """Print a finding."""
        self._print(traffic.finding_line(judged, found, tap, layer, self._paint))

    def more(self, judged: Judged, rule: str, count: int) -> None:
        """Print how many further findings of a rule an exchange has."""
        self._print(traffic.more_line(judged, rule, count))

    def change(self, change: FieldChange) -> None:
        """Print what a gateway does to a field."""
        self._print(traffic.change_line(change))

    def loss(self, judged: Judged, loss: Difference) -> None:
        """Print what was lost on its way, with both places."""
        self._print(traffic.loss_line(judged, loss, self._paint))

    def warn(self, message: str) -> None:
        """Print what went wrong in the check itself."""
        self._table.clear()
        print_error(self.without_keys(message))

    def redraw(self) -> None:
        """Show the table as it is now."""
        if self.checking is not None:
            self._table.show(self.without_keys(traffic.table(self.checking.tally)))

    def clear(self) -> None:
        """Remove the table."""
        self._table.clear()

    def _print(self, line: str) -> None:
        self._table.clear()
        print(self.without_keys(line), file=sys.stderr, flush=True)

    def without_keys(self, line: str) -> str:
        """Return a line without the secrets that the run has seen, and what looks like one."""
        if self.checking is None:
            return line
        try:
            return self.checking.scrubber.text(line)
        except Unscrubbable:
            return STAYS


def main(stream: BinaryIO) -> int:
    """Check what comes until the end, and return the exit code."""
    first = read_frame(stream)
    if first is None or first.kind != "settings":
        return 2
    try:
        return _check(stream, first.value)
    except ConformanceError as error:
        print_error(str(error))
        return 2


def _check(stream: BinaryIO, value: Mapping[str, Any]) -> int:
    settings = settings_of(value)
    profile = profiles.load_profile(value["provider"]) if value["provider"] else None
    screen = _Screen(has_table=bool(value["table"]))
    tape, front, is_whole, problem = None, None, False, None
    try:
        with ExitStack() as stack:
            if settings.record:
                tape = Tape(Path(settings.record), settings.taps[-1][1], settings.folder, settings.today, screen.warn)
                stack.enter_context(tape)
                front = _front_tape(settings, screen, stack)
            checking = screen.checking = Checking(settings, profile, screen, tape, front)
            is_whole = _take_all(stream, checking, screen)
            screen.clear()
            checking.finish()
    except ConformanceError as error:
        if screen.checking is None:
            raise
        problem = error
    written = [f"cassettes: {printable(str(each.home))}" for each in (tape, front) if each is not None]
    written += [f"results: {printable(settings.results)}"] if settings.results else []
    _print_summary(screen, checking, profile.name if profile is not None else "", written, value)
    if not is_whole:
        print_error("the proxy ended early; what it passed until then was checked")
    if problem is not None:
        raise problem
    return _exit_code(checking, str(value["fail_on"]))


def _front_tape(settings: Settings, screen: _Screen, stack: ExitStack) -> Tape | None:
    """Return what records the first of two taps, in a folder of its own."""
    if len(settings.taps) == 1:
        return None
    name, url = settings.taps[0]
    return stack.enter_context(Tape(Path(settings.record) / f"tap-{name}", url, "", settings.today, screen.warn))


def _take_all(stream: BinaryIO, checking: Checking, screen: _Screen) -> bool:
    """Check all frames; return False if the last one does not say that it is the last."""
    frames: queue.Queue[Frame | None] = queue.Queue(_READ_AHEAD)
    threading.Thread(target=_read_all, args=(stream, frames), daemon=True).start()
    written = time.monotonic()
    while True:
        try:
            frame = frames.get(timeout=WRITE_SECONDS)
        except queue.Empty:
            checking.pause()
            continue
        if frame is None:
            return False
        checking.take(frame)
        if frame.kind == "end":
            return True
        if time.monotonic() - written > WRITE_SECONDS:
            checking.pause()
            written = time.monotonic()
        if frames.empty():
            screen.redraw()


def _read_all(stream: BinaryIO, frames: "queue.Queue[Frame | None]") -> None:
    held = RepeatedBodies()
    frame = read_frame(stream, held)
    while frame is not None and frame.kind != "end":
        frames.put(frame)
        frame = read_frame(stream, held)
    frames.put(frame)


def _print_summary(
    screen: _Screen, checking: Checking, provider: str, written: list[str], value: Mapping[str, Any]
) -> None:
    output = sys.stderr if value["command"] else sys.stdout
    lines = traffic.summary(checking.tally, checking.layers.changes, provider, written, painter(output))
    for line in lines:
        print(screen.without_keys(line), file=output)
    output.flush()


def _exit_code(checking: Checking, fail_on: str) -> int:
    if checking.tally.broken:
        return 2
    if not checking.tally.checked:
        return _NOTHING
    return int(any(count and level.severity >= _LEAST[fail_on] for level, count in checking.tally.levels.items()))


if __name__ == "__main__":
    # A service manager ends all processes at once; this one has to check what came before.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Not sys.stdin, which the interpreter would wait for at its end while a thread reads it.
    with open(sys.stdin.fileno(), "rb", closefd=False) as copies:
        raise SystemExit(main(copies))
