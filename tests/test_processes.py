"""Child processes: what they inherit, how a failure is reported, and how they are ended."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance import processes
from conformance.errors import Unusable
from conformance.processes import Child, Children, Launch
from tests.fake_engine import lives, until
from tests.loops import every

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


STARTS_ANOTHER = "import subprocess, sys, time; child = subprocess.Popen({sleep!r}, start_new_session={own});"


def started_another(children: Children, then: str, *, own_session: bool) -> tuple[Child, int]:
    """Start a program that starts another one, and return it with the id of the other one."""
    code = STARTS_ANOTHER.format(sleep=SLEEP, own=own_session) + f"print(child.pid, flush=True); {then}"
    child = children.start([sys.executable, "-c", code], Launch(), stdout=subprocess.PIPE)
    assert child.stdout is not None
    with child.stdout as output:
        return child, int(output.readline())


@every(("then", "own_session"), [(then, own) for then in ("time.sleep(60)", "") for own in (False, True)])
def test_what_a_program_started_ends_with_it(then: str, *, own_session: bool) -> None:
    with Children() as children:
        child, other = started_another(children, then, own_session=own_session)
        code = child.kill() if then else child.wait(20)
        assert (-9 if then else 0, False) == (code, lives(other))


def start_some(children: Children, log: Path) -> Iterator[int]:
    """Start programs that end when they are asked, that do not, and that start others; yield their ids."""
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    yield children.start(SLEEP, Launch()).pid
    yield started_another(children, "time.sleep(60)", own_session=True)[1]
    yield children.start([sys.executable, "-c", deaf], Launch(grace=60, log=log, log_limit=9)).pid
    assert until(log.read_bytes)


def test_children_end_with_their_owner_after_an_error(tmp_path: Path) -> None:
    pids: list[int] = []

    def fail() -> None:
        with Children() as children:
            pids.extend(start_some(children, tmp_path / "log"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (3, []) == (len(pids), [pid for pid in pids if lives(pid)])


def test_an_owner_that_has_ended_starts_nothing() -> None:
    with Children() as children:
        pass
    with pytest.raises(Unusable, match="nothing is started any more"):
        children.start(SLEEP, Launch())


def test_a_program_ends_if_its_guard_is_killed() -> None:
    with Children() as children:
        child = children.start(SLEEP, Launch())
        os.kill(child.guard_pid, signal.SIGKILL)
        assert until(lambda: not lives(child.pid), 5)


@every(("script", "code"), [("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 11)", -11), ("", 0)])
def test_a_program_ends_with_its_own_exit_code(script: str, code: int) -> None:
    with Children() as children:
        assert code == children.start([sys.executable, "-c", script], Launch()).wait(20)


def test_a_program_gets_exactly_its_environment_and_default_signals(tmp_path: Path) -> None:
    script = "import os, signal as s; print(sorted(os.environ), s.getsignal(s.SIGTERM), s.getsignal(s.SIGHUP))"
    with Children() as children:
        launch = Launch(environment={"LC_ALL": "C"}, folder=tmp_path)
        child = children.start([sys.executable, "-I", "-c", script], launch, stdout=subprocess.PIPE)
        assert b"['LC_ALL'] 0 0\n" == child.communicate(20)[0]


def test_a_program_that_cannot_be_started_raises_as_popen_does() -> None:
    with Children() as children, pytest.raises(FileNotFoundError):
        children.start(["no-such-program"], Launch())


def test_a_signal_that_native_code_drops_ends_the_run_all_the_same() -> None:
    script = (
        "import os, signal, sqlite3, sys; from conformance.processes import unwinding_on_signals;"
        "database = sqlite3.connect(':memory:');"
        "database.set_progress_handler(lambda: os.kill(os.getpid(), getattr(signal, sys.argv[1])) or 0, 1000)\n"
        "with unwinding_on_signals():\n"
        "    try:\n"
        "        database.execute('with recursive a(b) as (select 1 union all select b + 1 from a limit 9999)"
        " select sum(b) from a')\n"
        "    except sqlite3.OperationalError as error: print(error)\n"
        "print('went on')"
    )
    for name, code in (("SIGINT", -2), ("SIGTERM", 143)):
        done = subprocess.run([sys.executable, "-c", script, name], capture_output=True, text=True, check=False)
        assert (code, "interrupted\n") == (done.returncode, done.stdout), done.stderr


def test_workers_that_are_killed_while_they_write_results_do_not_keep_the_process() -> None:
    script = (
        "import time; from conformance.processes.workers import worker_pool\n"
        "def work(_): return bytes(2_000_000)\n"
        "with worker_pool(2) as pool:\n"
        "    made = [pool.submit(work, number) for number in range(4000)]\n"
        "    made[20].result()\n"
        "    raise KeyboardInterrupt\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=60)
    assert -signal.SIGINT == done.returncode


def test_work_that_waits_in_order_ends_in_silence_with_its_workers() -> None:
    script = (
        "import os, signal, time; from conformance.processes.workers import in_order, worker_pool\n"
        "def work(number): time.sleep(number / 100); return number\n"
        "with worker_pool(2) as pool:\n"
        "    for number in in_order(pool, work, range(200)):\n"
        "        print(number, flush=True)\n"
        "        if number == 3: os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert (143, "0\n1\n2\n3\n", "") == (done.returncode, done.stdout, done.stderr)
