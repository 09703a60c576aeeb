"""The command line on a terminal: colours, progress, width, and no escape sequences from the input."""

import contextlib
import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance import scenarios
from conformance.cli import main
from conformance.documents.pointer import edit
from conformance.terminal import ProgressLine, painter
from tests.checking import ENVIRONMENT, FAULTY, GOOD, check, jsonl, write
from tests.loops import every
from tests.sampling import some


def test_escape_sequences_of_the_input_are_not_printed(tmp_path: Path) -> None:
    hostile = edit(FAULTY, {"/request/messages/2/tool_call_id": "\x1b[2J\u202e\nx", "/request/messages/0/\x1b]0;": 1})
    _, out, _ = check(write(tmp_path / "a.json", hostile))
    assert "\x1b" not in out
    assert "\u202e" not in out


def on_terminal(*arguments: str, **environment: str) -> bytes:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "conformance", "check", *arguments]
    inherited = {key: value for key, value in ENVIRONMENT.items() if key not in ("NO_COLOR", "TERM")}
    with subprocess.Popen(command, env={**inherited, "TERM": "xterm", **environment}, stdout=theirs) as process:
        os.close(theirs)
        shown = b""
        # On Linux, reading from a closed terminal raises an error.
        with contextlib.suppress(OSError):
            while data := os.read(ours, 4096):
                shown += data
        process.wait(30)
    os.close(ours)
    return shown


TERMINALS = [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]


@every(("variables", "coloured"), some(TERMINALS))
def test_colours_are_for_terminals_that_support_them(
    variables: dict[str, str], coloured: object, tmp_path: Path
) -> None:
    path = str(write(tmp_path / "a.json", FAULTY))
    shown = on_terminal(path, **variables)
    assert (coloured, coloured) == (b"\x1b[31mMUST\x1b[0m" in shown, b"\x1b" in shown)
    assert "\x1b" not in check(path)[1]


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def immediate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.terminal._DELAY", 0.0)
    monkeypatch.setattr("conformance.terminal._INTERVAL", 0.0)


@pytest.mark.usefixtures("immediate")
def test_a_long_run_shows_its_progress_and_erases_it(tmp_path: Path) -> None:
    terminal = Terminal()
    path = write(tmp_path / "a.jsonl", jsonl(GOOD, FAULTY, "{"))
    with contextlib.redirect_stderr(terminal), contextlib.redirect_stdout(io.StringIO()):
        assert 2 == main(["check", str(path)])
    shown = terminal.getvalue()
    assert re.search(rf"\r\x1b\[K2 inputs checked, [0-9]+ per second, now {re.escape(str(path))}", shown)
    assert f"\r\x1b[Kconformance: {path}:3:" in shown
    assert shown.endswith("\n")


@pytest.mark.usefixtures("immediate")
def test_progress_is_hidden_if_the_report_goes_to_the_terminal() -> None:
    terminal = Terminal()
    with contextlib.redirect_stderr(terminal), contextlib.redirect_stdout(terminal):
        ProgressLine().show("1 inputs checked, now a.json")
    assert "" == terminal.getvalue()


def test_files_get_no_colours() -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        assert "MUST" == painter()("red", "MUST")


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize(
    "arguments",
    [["explain", each] for each in ("probes", "providers", "rules", "scenarios")]
    + [["explain", "absent-current-own"], ["explain", "agent-session"]],
    ids=" ".join,
)
def test_lists_and_explanations_fit_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert 0 == main(arguments)
    too_long = [line for line in capsys.readouterr().out.splitlines() if len(line) > width]
    # What is to be copied stays whole: names, URLs and commands.
    assert [] == [line for line in too_long if not line.startswith("run it") and " " in line.strip().partition(": ")[2]]


def test_a_list_that_is_piped_stays_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert 0 == main(["explain", "probes"])
    heading, *lines = capsys.readouterr().out.splitlines()
    assert ["name", "scenario", "rule", "title"] == heading.split()
    assert len(lines) == sum(len(scenarios.load(name).probes) for name in scenarios.names())
