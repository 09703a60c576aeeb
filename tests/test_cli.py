"""The command itself: how it finds verbs, its help and exit codes, and how it ends without a traceback."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli import _registry, main
from tests.loops import every

ROOT = Path(__file__).parents[1]
COMMANDS = [" ".join(words) for words in _registry.commands()]
EXCHANGE = json.loads((ROOT / "fixtures" / "wire" / "tool-result.json").read_text("utf-8"))[0]
COMMAND = [sys.executable, "-m", "conformance"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def exchange_lines(count: int) -> bytes:
    return (json.dumps(EXCHANGE) + "\n").encode() * count


def start(*arguments: object, **options: object) -> "subprocess.Popen[bytes]":
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([*COMMAND, *map(str, arguments)], env=ENVIRONMENT, **pipes)  # type: ignore[call-overload,no-any-return]


def finish(process: "subprocess.Popen[bytes]") -> tuple[int, bytes]:
    """Wait for a process and return its exit code and standard error."""
    assert process.stderr
    error = process.stderr.read()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream and not stream.closed:
            stream.close()
    return process.wait(30), error


@every("command", COMMANDS)
def test_the_help_of_a_command_has_examples_and_exit_codes(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main([*command.split(), "--help"])
    shown = capsys.readouterr().out
    assert "examples:\n  conformance" in shown
    assert f"  conformance {command}" in shown[shown.index("examples:") :]
    assert "exit codes:\n  0 " in shown


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["--version"])
    assert capsys.readouterr().out.startswith("conformance ")


@every(
    ("arguments", "words"),
    [
        ([], "usage: conformance"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        (["chek", "x"], "unknown command 'chek'; did you mean check?"),
        (["../check"], "unknown command '../check'"),
        (["_terminal"], "unknown command '_terminal'"),
        (["check"], "the following arguments are required: PATH"),
        (["check", "--jobs", "0", "x"], "expected a positive number, got '0'"),
        (["check", "--jobs", "²", "x"], "expected a positive number, got '²'"),
        (["check", "--level", "ought", "x"], "invalid choice: 'OUGHT'"),
        (["check", "--format", "xml", "x"], "choose from 'console', 'github', 'json', 'jsonl', 'junit', 'sarif'"),
        (["check", "--format", "../check", "x"], "invalid choice: '../check'"),
        (["check", "--format", "terminal", "x"], "invalid choice: 'terminal'"),
        (["check", "--provider", "deepsek", "x"], "unknown provider 'deepsek'; did you mean deepseek"),
        (["check", "--provider", "", "absent.json"], "absent.json: cannot be read"),
        (["check", "--rule", "stream/complet", "x"], "unknown rule 'stream/complet'; did you mean stream/complete"),
        (["explain", "transcript/call-answered"], "did you mean transcript/calls-answered"),
        (["explain", "nothing"], "unknown rule, claim, probe, scenario or provider 'nothing'"),
        (["explain", "nothing", "rules"], "unknown rule, claim, probe, scenario or provider 'nothing'"),
        (["explain", "deepseek", "--format", "json"], "--provider and --format are about lists; name one: rules"),
        (["explain", "--provider", "deepseek"], "--provider and --format are about lists; name one: rules"),
        (["explain", "rules", "stream/*", "--provider", "deepseek"], "--provider and --format are about lists"),
        (["explain", "claims", "--provider", "nobody"], "unknown provider 'nobody'"),
    ],
)
def test_an_unusable_call_returns_2_and_a_reason(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main(arguments)
    assert words in capsys.readouterr().err


def test_an_error_is_one_line_without_escape_sequences(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["\x1b[31m\nverb"])
    error = capsys.readouterr().err
    assert 1 == error.count("\n")
    assert "\x1b" not in error


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_closed_pipe_ends_the_run_without_an_error(jobs: int, tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_bytes(exchange_lines(200))
    process = start("check", "--format", "jsonl", "--all", "--jobs", jobs, path)
    assert process.stdout
    assert process.stdout.readline().startswith(b'{"path":')
    process.stdout.close()
    assert (141, b"") == finish(process)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [2, 1])
def test_an_interrupt_ends_the_run_without_an_error(jobs: int) -> None:
    process = start("check", "--format", "jsonl", "--jobs", jobs, "-", start_new_session=True)
    assert process.stdin
    assert process.stdout
    process.stdin.write(exchange_lines(200))
    process.stdin.flush()
    assert process.stdout.readline().startswith(b'{"path":')
    os.killpg(process.pid, signal.SIGINT)
    assert (130, b"") == finish(process)


def test_a_full_disk_is_reported_in_one_line() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("NOT RUN: this system has no /dev/full")
    with full.open("wb") as nowhere:
        process = start("explain", "rules", stdout=nowhere)
        assert (2, b"conformance: the output: No space left on device\n") == finish(process)


def test_a_closed_standard_output_is_not_an_error(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_bytes(exchange_lines(1))
    closing = [*COMMAND, "check", str(path)]
    code = "import os, sys; os.close(1); os.execv(sys.argv[1], sys.argv[1:])"
    found = subprocess.run([sys.executable, "-c", code, *closing], env=ENVIRONMENT, capture_output=True, check=False)
    assert (0, b"") == (found.returncode, found.stderr)


def test_characters_that_the_encoding_lacks_are_escaped() -> None:
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "ascii"}
    command = [*COMMAND, "explain", "transcript/calls-answered"]
    found = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert (0, b"") == (found.returncode, found.stderr)
    assert b"\\u201c" in found.stdout


def test_lines_from_a_pipe_are_reported_as_they_arrive() -> None:
    process = start("check", "--format", "jsonl", "-")
    assert process.stdin
    assert process.stdout
    process.stdin.write(exchange_lines(2))
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["line"] == 1
    process.stdin.write(exchange_lines(1))
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["line"] == 2
    process.stdin.close()
    assert 3 == json.loads(process.stdout.readline())["line"]
    assert (0, b"") == finish(process)
