"""Child processes: what they inherit, how a failure is reported, and how they are ended."""

import subprocess
import sys

import pytest

from conformance import processes
from conformance.errors import Unusable
from tests.fake_engine import lives, until

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def test_only_harmless_variables_are_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("TZ", "UTC")
    assert "UTC" == processes.inherited("TZ")["TZ"]
    assert processes.inherited().keys().isdisjoint({"OPENAI_API_KEY", "TZ"})


@pytest.mark.parametrize(
    ("code", "seconds", "message"),
    [
        ("print('first'); print(); print('last'); raise SystemExit(3)", 60, "it failed (exit code 3): first\nlast"),
        ("raise SystemExit(1)", 60, "it failed (exit code 1): it wrote nothing"),
        ("import time; time.sleep(60)", 0.5, "it failed: it did not end within 0.5 seconds"),
    ],
)
def test_a_failed_command_is_reported_with_its_last_lines(code: str, seconds: float, message: str) -> None:
    with pytest.raises(Unusable) as caught:
        processes.run([sys.executable, "-c", code], "it failed", seconds)
    assert message == str(caught.value)


def test_a_process_that_does_not_end_is_killed() -> None:
    process = subprocess.Popen(SLEEP)
    processes.wait_or_kill(process, 0.1)
    assert -9 == process.returncode


@pytest.mark.parametrize("own_session", [False, True])
def test_a_tree_is_killed_with_its_children(*, own_session: bool) -> None:
    code = f"import subprocess, sys, time; child = subprocess.Popen({SLEEP!r}, start_new_session={own_session});"
    code += "print(child.pid, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        processes.kill_tree(process)
    assert -9 == process.returncode
    assert until(lambda: not lives(child), 5)


def test_children_that_an_ended_process_left_in_its_group_are_killed() -> None:
    code = f"import subprocess; print(subprocess.Popen({SLEEP!r}, stdout=subprocess.DEVNULL).pid)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.wait(20)
        assert lives(child)
        processes.kill_tree(process)
    assert until(lambda: not lives(child), 5)
