"""A driver's process: what comes of every way in which it may end, and what it is given to see."""

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import profiles, scenarios
from conformance.adapters.case import AdapterSetup, CaseRun, run_case
from conformance.adapters.driver import MAX_ERRORS, Driver, drive
from conformance.adapters.job import job_of
from conformance.documents import parse_json
from conformance.results import Status
from conformance.schemas import validator
from conformance.simulator.sessions import staged
from tests.engines import lives, until

JOB = {"contract": 1}
ANSWER = 'print(\'{"texts": ["ok"]}\')'


def driver(folder: Path, source: str, seconds: float = 20, **environment: str) -> Driver:
    path = folder / "driver.py"
    path.write_text(source, "utf-8")
    return Driver((sys.executable, str(path)), folder, environment, seconds)


FAULTS = [
    (
        "import sys; print('half an answer'); sys.exit('it broke')",
        "ended with exit code 1; standard error ends:\nit broke",
    ),
    ("raise ValueError('in the driver')", "ValueError: in the driver"),
    ("", "printed no answer"),
    ("print()\nprint('  ')", "printed no answer"),
    ("print('hello')", "printed no answer: the last line of its standard output"),
    ("print('[1, 2]')", "printed an invalid answer: at (root)"),
    ('print(\'{"texts": "ok"}\')', "printed an invalid answer: at /texts"),
    ('print(\'{"texts": [], "error": {"type": 1}}\')', "printed an invalid answer"),
    ("import os; os.kill(os.getpid(), 11)", "ended with exit code -11"),
    ("import sys\nwhile True: sys.stdout.write('x' * 65536)", "wrote more than 1048576 bytes to its standard output"),
]


@pytest.mark.parametrize(("source", "words"), FAULTS)
def test_a_driver_that_does_not_answer_is_at_fault(source: str, words: str, tmp_path: Path) -> None:
    driven = drive(driver(tmp_path, source), JOB)
    assert driven.answer is None
    assert driven.failure.startswith("the driver ")
    assert words in driven.failure


@pytest.mark.parametrize("own_session", [False, True])
def test_a_driver_that_hangs_is_ended_with_everything_that_it_started(tmp_path: Path, *, own_session: bool) -> None:
    source = f"""
import subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
child = subprocess.Popen(sleep, start_new_session={own_session})
open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
time.sleep(60)
"""
    driven = drive(driver(tmp_path, source, seconds=1), JOB)
    assert "did not end within 1 seconds" in driven.failure
    child = int((tmp_path / "pid").read_text())
    assert until(lambda: not lives(child), 5)


def test_what_a_driver_leaves_behind_does_not_hold_the_run_up(tmp_path: Path) -> None:
    source = (
        f'import subprocess, sys\nsubprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])\n{ANSWER}'
    )
    begun = time.monotonic()
    driven = drive(driver(tmp_path, source), JOB)
    assert driven.answer is not None
    assert time.monotonic() - begun < 15


def test_the_last_line_that_is_not_empty_is_the_answer(tmp_path: Path) -> None:
    driven = drive(driver(tmp_path, f"print('chatter')\nprint('{{}}')\n{ANSWER}\nprint()"), JOB)
    assert driven.answer is not None
    assert ("ok",) == driven.answer.texts


def test_a_driver_that_does_not_read_its_job_still_answers(tmp_path: Path) -> None:
    driven = drive(driver(tmp_path, ANSWER), {"much": "x" * 2_000_000})
    assert driven.answer is not None


def test_only_the_tail_of_standard_error_is_kept(tmp_path: Path) -> None:
    source = "import sys\nsys.stderr.write('first\\n' + 'x' * 100000 + '\\nlast\\n')\nsys.exit(3)"
    fault = drive(driver(tmp_path, source), JOB).failure
    assert fault.endswith("\nlast")
    assert "first" not in fault
    assert len(fault) < 2 * MAX_ERRORS


def test_a_driver_sees_what_it_needs_of_the_environment_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DEEPSEEK_API_KEY", "HTTPS_PROXY", "https_proxy", "PYTHONPATH", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "from the shell")
    source = "import json, os\nprint(json.dumps({'texts': [json.dumps(dict(os.environ))]}))"
    driven = drive(driver(tmp_path, source, OWN="1"), JOB)
    assert driven.answer is not None
    assert driven.answer.texts is not None
    seen = json.loads(driven.answer.texts[0] or "")
    assert "from the shell" not in seen.values()
    assert os.environ["PATH"] == seen["PATH"]
    assert "1" == seen["OWN"]
    assert "127.0.0.1" in seen["NO_PROXY"]


@pytest.mark.parametrize("command", [("no-such-program-anywhere",), ("/",)])
def test_a_command_that_cannot_be_started_is_a_fault(command: tuple[str, ...], tmp_path: Path) -> None:
    driven = drive(Driver(command, tmp_path), JOB)
    assert "cannot be started" in driven.failure


def played(source: str, folder: Path, case: str = "plain-answer.plain", seconds: float = 20) -> CaseRun:
    scenario, _, variant = case.partition(".")
    profile = profiles.load("deepseek")
    with staged() as stage:
        subject = AdapterSetup(driver(folder, source, seconds), profile, profile.model)
        return run_case(stage, scenarios.load(scenario), variant, subject)


def test_a_fault_of_the_driver_is_errored_and_says_nothing_of_the_adapter(tmp_path: Path) -> None:
    run = played("raise SystemExit('no such module')", tmp_path)
    (only,) = run.case.outcomes
    assert (Status.ERRORED, "loop/every-prompt-answered") == (only.status, only.rule)
    assert "no such module" in only.reason


def test_a_driver_that_sends_nothing_is_untested(tmp_path: Path) -> None:
    run = played('print(\'{"texts": [], "error": {"type": "ImportError", "message": "no SDK"}}\')', tmp_path)
    assert {Status.UNTESTED} == {each.status for each in run.case.outcomes}
    assert "loop/every-prompt-answered" in {each.rule for each in run.case.outcomes}
    assert all("the adapter raised ImportError: no SDK" in each.reason for each in run.case.outcomes)


def test_a_driver_that_asks_in_the_other_way_than_it_was_told_is_errored(tmp_path: Path) -> None:
    source = Path(__file__).with_name("broken_client.py").read_text("utf-8").replace("sys.argv[1]", "'never-streams'")
    source = source.replace(' if len(sys.argv) > 1 else ""', "")
    run = played(source, tmp_path, "plain-answer.stream")
    (only,) = run.case.outcomes
    assert Status.ERRORED is only.status
    assert "was to ask for streams, and asked for none" in only.reason


def test_every_job_is_what_its_schema_says_and_tells_what_each_call_brings() -> None:
    profile = profiles.load("openrouter")
    playable = [
        each for each in map(scenarios.load, scenarios.names()) if each.unmet(profile.at(profile.model)) is None
    ]
    assert len(playable) > len(scenarios.names()) / 2
    with staged() as stage:
        for scenario in playable:
            given: Mapping[str, Any] = job_of(stage.open(scenario, profile, scenario.variants[0]))
            assert () == validator("files/adapter-job").errors(parse_json(json.dumps(given).encode(), "job"))
            assert list(scenario.prompts) == given["prompts"]
            brought = {result["text"] for tool in given["tools"] for result in tool["results"]}
            assert brought <= {text for turn in scenario.turns for text in turn.results}
            assert bool(brought) is any(turn.results for turn in scenario.turns)
