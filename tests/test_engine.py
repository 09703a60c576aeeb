"""Engines are started, awaited, and ended with everything that they started, whatever happens."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from conformance.cli import main
from conformance.engines.definition import load
from conformance.engines.process import LOG_LIMIT
from conformance.engines.serving import EngineOptions, ServedEngine, serving
from conformance.errors import Unusable
from tests.fake_engine import define, lives, pids, until, weights
from tests.sampling import some

pytestmark = pytest.mark.slow


@contextmanager
def running(tmp_path: Path, fault: str, port: int = 0, **changes: Any) -> Iterator[ServedEngine]:
    definition = load(define(tmp_path, fault=fault, **changes).stem, tmp_path)
    with serving(
        definition, EngineOptions(tmp_path / "cache", weights(tmp_path / "w"), port=port), lambda _: None
    ) as served:
        yield served


def arguments(tmp_path: Path, action: str, *more: str, fault: str = "none", **changes: Any) -> list[str]:
    define(tmp_path, fault=fault, **changes)
    known = {"--definitions": tmp_path, "--weights": weights(tmp_path / "w"), "--cache": tmp_path / "cache"}
    return ["engine", action, "fake", *(str(word) for pair in known.items() for word in pair), *more]


def test_an_engine_runs_only_inside_its_context(tmp_path: Path) -> None:
    with running(tmp_path, "none") as served:
        assert 200 == httpx.get(served.url.removesuffix("/v1") + "/ready").status_code
        assert "scripted-qwen3-0.002b" == served.model
    (pid,) = pids(tmp_path)
    assert not lives(pid)


@pytest.mark.parametrize("fault", ["children", "deaf"])
def test_no_process_is_left_of_an_engine(tmp_path: Path, fault: str) -> None:
    with running(tmp_path, fault):
        started = pids(tmp_path)
        assert all(map(lives, started))
    assert ({"children": 3, "deaf": 1}[fault], []) == (len(started), [pid for pid in started if lives(pid)])


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (
            "crashes",
            "ended during start-up with exit code 3; the end of its log:\nthe fake begins\nthe weights are gone",
        ),
        ("killed", "ended during start-up with exit code 137"),
    ],
)
def test_a_crash_during_start_up_is_reported_with_exit_code_and_end_of_log(
    tmp_path: Path, fault: str, words: str
) -> None:
    with pytest.raises(Unusable) as caught, running(tmp_path, fault):
        pass
    assert words in str(caught.value)


def test_an_engine_that_never_answers_is_ended_after_its_timeout(tmp_path: Path) -> None:
    words = r"did not answer at http://127\.0\.0\.1:\d+/ready within 1 seconds"
    with pytest.raises(Unusable, match=words), running(tmp_path, "hangs", seconds=1):
        pass
    assert [] == [pid for pid in pids(tmp_path) if lives(pid)]


def test_a_missing_engine_command_is_reported(tmp_path: Path) -> None:
    words = "cannot start Fake engine: no-such-engine: No such file"
    with pytest.raises(Unusable, match=words), running(tmp_path, "none", command=["no-such-engine", "{port}"]):
        pass


def test_a_taken_port_is_reported_and_nothing_is_started(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = f"cannot bind 127.0.0.1:{port}"
        with pytest.raises(Unusable, match=words), running(tmp_path, "none", port=port):
            pass
    assert [] == pids(tmp_path)


def test_an_engine_that_listens_beyond_loopback_is_ended(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match=r"listens on port \d+ of 0\.0\.0\.0"), running(tmp_path, "open"):
        pass
    assert [] == [pid for pid in pids(tmp_path) if lives(pid)]


def test_the_end_of_a_running_engine_is_reported(tmp_path: Path) -> None:
    with running(tmp_path, "none") as served:
        httpx.get(served.url.removesuffix("/v1") + "/die")
        assert "Fake engine ended unexpectedly with exit code 5" in str(served.process.failure())


def test_the_log_of_an_engine_stays_bounded(tmp_path: Path) -> None:
    with running(tmp_path, "loud") as served:
        assert until(lambda: served.process.log.with_name("engine.log.old").exists())
        sizes = [path.stat().st_size for path in served.process.log.parent.glob("engine.log*")]
        assert sum(sizes) < 2 * LOG_LIMIT + 200_000


def test_an_engine_does_not_inherit_api_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with running(tmp_path, "none") as served:
        (pid,) = pids(tmp_path)
        environment = psutil.Process(pid).environ()
    assert (True, False) == ("PIDS" in environment, "OPENAI_API_KEY" in environment)
    assert "http://127.0.0.1:" in served.url


def test_the_command_beside_an_engine_gets_its_address_and_determines_the_exit_code(tmp_path: Path) -> None:
    code = (
        "import os, sys, urllib.request as u;"
        "base = os.environ['CONFORMANCE_BASE_URL'];"
        "u.urlopen(base.removesuffix('/v1') + '/ready');"
        "sys.exit(7 if os.environ['CONFORMANCE_MODEL'] == 'scripted-qwen3-0.002b' else 1)"
    )
    assert 7 == main(arguments(tmp_path, "run", "--", sys.executable, "-c", code))
    assert [] == [pid for pid in pids(tmp_path) if lives(pid)]


def test_a_killed_command_has_the_exit_code_that_shells_use(tmp_path: Path) -> None:
    code = "import os; os.kill(os.getpid(), 9)"
    assert 137 == main(arguments(tmp_path, "run", "--", sys.executable, "-c", code))


def test_a_command_that_cannot_be_run_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(arguments(tmp_path, "run", "--", "no-such-command"))
    assert "cannot run no-such-command: No such file" in capsys.readouterr().err
    assert [] == [pid for pid in pids(tmp_path) if lives(pid)]


@pytest.mark.parametrize(
    ("number", "code"),
    some(
        [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)],
        3,
        mark=pytest.mark.exhaustive,
    ),
)
@pytest.mark.parametrize("command", [[], ["--", "sh", "-c", "echo $$; exec sleep 600"]], ids=["alone", "command"])
def test_no_process_is_left_when_the_command_line_is_ended(
    tmp_path: Path, number: signal.Signals, code: int, command: list[str]
) -> None:
    words = [sys.executable, "-m", "conformance", *arguments(tmp_path, "run", *command, fault="children")]
    # A killed process leaves its scratch folder behind.
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, env=environment
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline().decode()
        started = [*pids(tmp_path), int(first)] if command else pids(tmp_path)
        assert command or first.startswith("http://127.0.0.1:")
        if number == signal.SIGINT:
            # As from a terminal: every foreground process gets the signal.
            os.killpg(process.pid, number)
        else:
            os.kill(process.pid, number)
        assert code == process.wait(120)
        # A killed process cannot end the user's command, but the engine still ends.
        started = pids(tmp_path) if number == signal.SIGKILL else started
        assert until(lambda: not any(map(lives, started)))
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        assert b"Traceback" not in process.stderr.read()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def test_a_signal_while_the_command_is_started_is_not_lost() -> None:
    code = (
        "import os, signal, sys;"
        "from conformance.engines.command import run;"
        "from conformance.engines.serving import ServedEngine;"
        "from conformance.processes import GuardedCommand as C; confirm = C.confirm;"
        "C.confirm = lambda *given: (os.kill(os.getpid(), signal.SIGINT), confirm(*given));"
        "sys.exit(run(['sleep', '60'], ServedEngine('', '', '', {}, None, {})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert (-signal.SIGINT, False) == (done.returncode, "Exception ignored" in done.stderr)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["engine", "run", "lamacpp"], "did you mean llamacpp"),
        (["engine", "run", "llamacpp", "--template", "qwen"], "did you mean qwen3"),
        (["engine", "run", "llamacpp", "--weights", "/nowhere"], "there is no to_gguf.py"),
        (["engine", "record"], "name engines or use --all"),
        (["engine", "record", "llamacpp", "--", "ls"], "unknown engine 'ls'"),
    ],
)
def test_an_unusable_call_is_reported(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.environments.has_packages", lambda _: True)
    assert 2 == main(words)
    assert message in capsys.readouterr().err


def test_every_engine_is_listed_with_its_version(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert 0 == main(["engine", "list", "--cache", str(tmp_path)])
    shown = capsys.readouterr().out
    assert "llamacpp" in shown
    assert "2026.10.11549 b11549" in shown
