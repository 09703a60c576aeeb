"""Shell completion: real shells load the printed script and complete verbs, options and names with it."""

import contextlib
import os
import pty
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.cli import main

pytestmark = pytest.mark.slow

SHELLS = ("bash", "zsh", "fish")
INTERACTIVE = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
# Prints the words of a command line, as the shell completed them.
PRINTER = "conformance() { printf '<%s>' \"$@\"; echo; }\n"
LOADING = {
    "bash": "source ./_conformance\n",
    "zsh": "PROMPT_SP=; fpath=($PWD $fpath); autoload -Uz compinit && compinit -u -D\n",
}
LINES = [
    ("conformance che", "check"),
    ("conformance check --provider deeps", "deepseek"),
    ("conformance check --form", "--format"),
    ("conformance check --format jun", "junit"),
    ("conformance check --rule transcript/result-a", "transcript/result-answers-call"),
    ("conformance provider va", "validate"),
    ("conformance provider disc", "discover"),
    ("conformance provider replay --provider deeps", "deepseek"),
    ("conformance report statement ver", "verify"),
    ("conformance evidence cal", "calibrate"),
    ("conformance explain scen", "scenarios"),
    ("conformance engine ru", "run"),
    ("conformance engine run mlx", "mlx_lm"),
    ("conformance adapter run --scenario parallel-tool", "parallel-tool-calls"),
    ("conformance adapter install pydantic", "pydantic-ai"),
    ("conformance explain reasoning.omitted-on-to", "reasoning.omitted-on-tool-turn"),
    ("conformance gate --expected ./expected", "./expected.yaml"),
]


def require(shell: str) -> None:
    if shutil.which(shell) is None:
        message = f"NOT RUN: {shell} is not installed, so its completion was not tested"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)


Script = Callable[[str], str]


@pytest.fixture
def script(capsys: pytest.CaptureFixture[str]) -> Script:
    def printed(shell: str) -> str:
        assert 0 == main(["--print-completion", shell])
        out, error = capsys.readouterr()
        assert "" == error
        return out

    return printed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "expected.yaml").touch()
    return tmp_path


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_has_no_syntax_errors(shell: str, script: Script) -> None:
    require(shell)
    subprocess.run([shell, "-n"], input=script(shell), text=True, check=True)


@pytest.mark.parametrize("shell", INTERACTIVE)
def test_the_tab_key_completes_words(shell: str, script: Script, folder: Path) -> None:
    require(shell)
    (folder / "_conformance").write_text(script(shell))
    typed = LOADING[shell] + PRINTER + "".join(f"{line}\t\n" for line, _ in LINES) + "exit\n"
    shown = interact(INTERACTIVE[shell], typed, folder)
    assert [] == [completed for _, completed in LINES if f"<{completed}>" not in shown], shown


@pytest.mark.parametrize(("line", "completed"), LINES)
def test_fish_completes_words(line: str, completed: str, script: Script, folder: Path) -> None:
    require("fish")
    (folder / "conformance.fish").write_text(script("fish"))
    command = ["fish", "--no-config", "-c", f"source conformance.fish; complete --do-complete {line!r}"]
    environment = {**os.environ, "HOME": str(folder)}
    shown = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout
    assert completed in [candidate.partition("\t")[0] for candidate in shown.splitlines()]


def test_an_unknown_shell_is_unusable(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["--print-completion", "csh"])
    assert "invalid choice: 'csh' (choose from 'bash', 'zsh', 'fish')" in capsys.readouterr().err


def interact(command: list[str], typed: str, folder: Path) -> str:
    """Type into an interactive shell and return what its terminal shows."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "HOME": str(folder), "PS1": "$ ", "TERM": "dumb"}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        killer = threading.Timer(60, process.kill)
        killer.start()
        os.write(ours, typed.encode())
        shown = b""
        # On Linux, reading from a closed terminal raises an error.
        with contextlib.suppress(OSError):
            while data := os.read(ours, 4096):
                shown += data
        killer.cancel()
    os.close(ours)
    return shown.decode()
