"""Drivers: each way in which their process can end, and what they inherit."""

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import profiles, scenarios
from conformance.adapters import agent_driver
from conformance.adapters.case import AdapterSetup, CaseRun, run_case
from conformance.adapters.driver import MAX_ERRORS, Driver, DriverResult, Surroundings, drive
from conformance.adapters.job import job_of
from conformance.definitions import filled
from conformance.documents import parse_json
from conformance.processes import Children
from conformance.results import Status
from conformance.schemas import validator
from conformance.simulator.sessions import serving_sessions
from tests.fake_engine import lives, until

JOB = {"contract": 1}
ANSWER = 'print(\'{"texts": ["ok"]}\')'


def driver(folder: Path, source: str, seconds: float = 20, **environment: str) -> Driver:
    path = folder / "driver.py"
    path.write_text(source, "utf-8")
    return Driver((sys.executable, str(path)), folder, environment, seconds)


def driven(each: Driver, job: Mapping[str, Any]) -> DriverResult:
    with Children() as children:
        return drive(each, job, Surroundings(children))


FAILURES = [
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


@pytest.mark.parametrize(("source", "words"), FAILURES)
def test_a_driver_that_does_not_answer_has_failed(source: str, words: str, tmp_path: Path) -> None:
    result = driven(driver(tmp_path, source), JOB)
    assert result.answer is None
    assert result.failure.startswith("the driver ")
    assert words in result.failure


@pytest.mark.slow
@pytest.mark.parametrize("own_session", [False, True])
def test_a_driver_that_hangs_is_ended_with_everything_that_it_started(tmp_path: Path, *, own_session: bool) -> None:
    source = f"""
import subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
child = subprocess.Popen(sleep, start_new_session={own_session})
open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
time.sleep(60)
"""
    result = driven(driver(tmp_path, source, seconds=1), JOB)
    assert "did not end within 1 seconds" in result.failure
    child = int((tmp_path / "pid").read_text())
    assert until(lambda: not lives(child), 5)


def test_processes_that_a_driver_leaves_behind_do_not_delay_the_run(tmp_path: Path) -> None:
    source = (
        f'import subprocess, sys\nsubprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])\n{ANSWER}'
    )
    begun = time.monotonic()
    result = driven(driver(tmp_path, source), JOB)
    assert result.answer is not None
    assert time.monotonic() - begun < 15


def test_the_last_line_that_is_not_empty_is_the_answer(tmp_path: Path) -> None:
    result = driven(driver(tmp_path, f"print('chatter')\nprint('{{}}')\n{ANSWER}\nprint()"), JOB)
    assert result.answer is not None
    assert ("ok",) == result.answer.texts


def test_a_driver_that_does_not_read_its_job_still_answers(tmp_path: Path) -> None:
    result = driven(driver(tmp_path, ANSWER), {"much": "x" * 2_000_000})
    assert result.answer is not None


def test_only_the_end_of_standard_error_is_kept(tmp_path: Path) -> None:
    source = "import sys\nsys.stderr.write('first\\n' + 'x' * 100000 + '\\nlast\\n')\nsys.exit(3)"
    fault = driven(driver(tmp_path, source), JOB).failure
    assert fault.endswith("\nlast")
    assert "first" not in fault
    assert len(fault) < 2 * MAX_ERRORS


def test_a_driver_inherits_only_harmless_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DEEPSEEK_API_KEY", "HTTPS_PROXY", "https_proxy", "PYTHONPATH", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "from the shell")
    source = "import json, os\nprint(json.dumps({'texts': [json.dumps(dict(os.environ))]}))"
    result = driven(driver(tmp_path, source, OWN="1"), JOB)
    assert result.answer is not None
    assert result.answer.texts is not None
    inherited = json.loads(result.answer.texts[0] or "")
    assert "from the shell" not in inherited.values()
    assert os.environ["PATH"] == inherited["PATH"]
    assert "1" == inherited["OWN"]
    assert "127.0.0.1" in inherited["NO_PROXY"]


@pytest.mark.parametrize("command", [("no-such-program-anywhere",), ("/",)])
def test_a_command_that_cannot_be_started_has_failed(command: tuple[str, ...], tmp_path: Path) -> None:
    result = driven(Driver(command, tmp_path), JOB)
    assert "cannot be started" in result.failure


def run_source(source: str, folder: Path, case: str = "plain-answer.plain", seconds: float = 20) -> CaseRun:
    scenario, _, variant = case.partition(".")
    profile = profiles.load("deepseek")
    with serving_sessions() as server, Children() as children:
        subject = AdapterSetup(driver(folder, source, seconds), profile, profile.model)
        return run_case(server, scenarios.load(scenario), variant, subject, Surroundings(children))


def test_a_failed_driver_is_errored_and_shows_nothing_about_the_adapter(tmp_path: Path) -> None:
    run = run_source("raise SystemExit('no such module')", tmp_path)
    (only,) = run.case.outcomes
    assert (Status.ERRORED, "loop/every-prompt-answered") == (only.status, only.rule)
    assert "no such module" in only.reason


def test_a_driver_that_sends_nothing_is_untested(tmp_path: Path) -> None:
    run = run_source('print(\'{"texts": [], "error": {"type": "ImportError", "message": "no SDK"}}\')', tmp_path)
    assert {Status.UNTESTED} == {each.status for each in run.case.outcomes}
    assert "loop/every-prompt-answered" in {each.rule for each in run.case.outcomes}
    assert all("the adapter raised ImportError: no SDK" in each.reason for each in run.case.outcomes)


def test_a_driver_that_asks_for_the_wrong_kind_of_reply_is_errored(tmp_path: Path) -> None:
    source = Path(__file__).with_name("broken_client.py").read_text("utf-8").replace("sys.argv[1]", "'never-streams'")
    source = source.replace(' if len(sys.argv) > 1 else ""', "")
    run = run_source(source, tmp_path, "plain-answer.stream")
    (only,) = run.case.outcomes
    assert Status.ERRORED is only.status
    assert "requested no streamed reply, which this case tests; use --variant plain" in only.reason


def test_every_job_is_valid_and_has_the_result_of_each_call() -> None:
    profile = profiles.load("openrouter")
    playable = [
        each for each in map(scenarios.load, scenarios.names()) if each.unmet(profile.at(profile.model)) is None
    ]
    assert len(playable) > len(scenarios.names()) / 2
    with serving_sessions() as server:
        for scenario in playable:
            job: Mapping[str, Any] = job_of(server.open(scenario, profile, scenario.variants[0]))
            assert () == validator("files/adapter-job").errors(parse_json(json.dumps(job).encode(), "job"))
            assert list(scenario.asked) == job["prompts"]
            assert list(scenario.history) == job.get("history", [])
            texts = {result["text"] for tool in job["tools"] for result in tool["results"]}
            assert texts <= {text for turn in scenario.turns for text in turn.results}
            assert bool(texts) is any(turn.results for turn in scenario.turns)


def test_words_in_braces_that_a_value_holds_stay() -> None:
    values = {"prompt": "Print {key} and {model}.", "key": "sk-1", "model": "{prompt}"}
    text = '--key={key} --model={model} {prompt} {unknown} {"a": {}}'
    in_order = '--key=sk-1 --model={prompt} Print {key} and {model}. {unknown} {"a": {}}'
    assert in_order == agent_driver._filled(text, values) == filled(text, values)
