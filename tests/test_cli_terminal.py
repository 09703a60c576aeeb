"""The verb check on a terminal: colour, progress, and text that must not steer it."""

import contextlib
import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.documents.pointer import edit
from conformance.terminal import Progress, painter
from tests.checking import ENVIRONMENT, FAULTY, GOOD, check, jsonl, write


def test_text_from_the_wire_cannot_steer_a_terminal(tmp_path: Path) -> None:
    hostile = edit(FAULTY, {"/request/messages/2/tool_call_id": "\x1b[2J\u202e\nx", "/request/messages/0/\x1b]0;": 1})
    _, out, _ = check(write(tmp_path / "a.json", hostile))
    assert "\x1b" not in out
    assert "\u202e" not in out


def on_terminal(*arguments: str, **environment: str) -> bytes:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "conformance", "check", *arguments]
    given = {key: value for key, value in ENVIRONMENT.items() if key not in ("NO_COLOR", "TERM")}
    with subprocess.Popen(command, env={**given, "TERM": "xterm", **environment}, stdout=theirs) as process:
        os.close(theirs)
        shown = b""
        # Linux tells the end of a terminal by an error.
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 4096):
                shown += piece
        process.wait(30)
    os.close(ours)
    return shown


def test_colour_is_for_terminals_that_want_it(tmp_path: Path) -> None:
    path = str(write(tmp_path / "a.json", FAULTY))
    assert b"\x1b[31mMUST\x1b[0m" in on_terminal(path)
    assert b"\x1b" not in on_terminal(path, NO_COLOR="1")
    assert b"\x1b" not in on_terminal(path, TERM="dumb")
    assert "\x1b" not in check(path)[1]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.terminal._PATIENCE", 0.0)
    monkeypatch.setattr("conformance.terminal._PAUSE", 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_long_run_says_how_far_it_is_and_leaves_no_trace(tmp_path: Path) -> None:
    terminal = Terminal()
    path = write(tmp_path / "a.jsonl", jsonl(GOOD, FAULTY, "{"))
    with contextlib.redirect_stderr(terminal), contextlib.redirect_stdout(io.StringIO()):
        assert 2 == main(["check", str(path)])
    said = terminal.getvalue()
    assert f"\r\x1b[K2 inputs judged, now {path}" in said
    assert f"\r\x1b[Kconformance: {path}:3:" in said
    assert said.endswith("\n")


@pytest.mark.usefixtures("impatient")
def test_progress_is_silent_where_the_report_runs_over_the_terminal() -> None:
    terminal = Terminal()
    with contextlib.redirect_stderr(terminal), contextlib.redirect_stdout(terminal):
        Progress().tell("1 inputs judged, now a.json")
    assert "" == terminal.getvalue()


def test_the_painter_paints_nothing_into_a_file() -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        assert "MUST" == painter()("red", "MUST")
