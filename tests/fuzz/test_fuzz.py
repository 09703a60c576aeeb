"""A few inputs of every target, the inputs that once failed, and proof that the fuzzer finds what is wrong."""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance import wires
from conformance.documents import read_yaml
from conformance.resources import folder
from conformance.results import Level, Outcome, Status
from conformance.schemas import validator
from conformance.wire.exchange import Exchange
from tests.checking import ROOT
from tests.fuzz import agreement, judged, running, schema_values, seeds, targets, twins
from tests.fuzz.__main__ import main, parser
from tests.fuzz.running import Job, attempted, divided, made, merged, run, shrunk, write
from tests.fuzz.targets import TARGETS
from tests.loops import every
from tests.sampling import some

NIGHTLY: Any = read_yaml(ROOT / ".github" / "workflows" / "fuzz.yml").value["jobs"]["fuzz"]
FOUND = sorted((folder("fixtures") / "bytes" / "fuzz").glob("*.json"))
FEW = 1
LIGHT = [name for name in TARGETS if TARGETS[name].pools is not judged.pool]
"""The targets whose seeds take no seconds to collect."""
SECONDS = 12.0
"""How long CI fuzzes all targets together; the nightly run makes ten million inputs."""


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_an_input_that_once_failed_does_not_fail_again(path: Path, tmp_path: Path) -> None:
    saved = json.loads(path.read_text("utf-8"))
    assert "" == attempted(TARGETS[saved["target"]], saved["input"], tmp_path).message


@every("name", some(LIGHT, 4))
def test_a_few_inputs_have_no_faults(name: str) -> None:
    report = run(Job(name, seed=0, inputs=FEW))
    assert FEW == report.inputs
    assert {} == report.failures


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", TARGETS)
def test_inputs_of_some_seconds_have_no_faults(name: str) -> None:
    report = run(Job(name, seed=1, seconds=SECONDS / len(TARGETS)))
    assert {} == report.failures


@pytest.mark.slow
@pytest.mark.parametrize("name", agreement.JUDGED)
def test_most_inputs_of_what_judges_reach_rules(name: str) -> None:
    report = run(Job(name, seed=2, inputs=16))
    assert {} == report.failures
    assert 8 < report.reached.inputs


@pytest.mark.slow
def test_inputs_are_plain_and_streamed_on_all_wires() -> None:
    drawn = [made(TARGETS["wires"], 0, None, number)["conversation"] for number in range(80)]
    found = {(each["wire"], "events" in record) for each in drawn for record in each["exchanges"]}
    assert {(wire, streams) for wire in wires.NAMES for streams in (True, False)} == found


def test_what_is_drawn_from_a_schema_mostly_obeys_it() -> None:
    names = [f"wires/{wire}/{kind}" for wire in wires.NATIVE for kind in ("request", "reply")]
    for name in ("canonical/request", "canonical/response", *names):
        drawn = [schema_values.drawn(seeds.random(name, number), f"{name}.json") for number in range(20)]
        assert 5 < sum(not validator(name).errors(each) for each in drawn), name


def judging_otherwise(plain: Sequence[Outcome], streamed: Sequence[Outcome]) -> list[str]:
    return [f"{each.rule}: plain a, streamed b" for each in plain if each.judged]


@pytest.mark.slow
def test_a_stream_that_is_judged_otherwise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twins, "differences", judging_otherwise)
    keys = [*run(Job("twins", seed=0, inputs=8)).failures]
    assert keys
    assert all(key.startswith("plain and streamed differ") for key in keys)


@pytest.mark.slow
def test_hash_seeds_and_threads_have_the_same_outcomes(capsys: pytest.CaptureFixture[str]) -> None:
    inputs = [
        {"target": name, "input": made(TARGETS[name], 0, None, at)} for name in ("wires", "twins") for at in (0, 1)
    ]
    assert agreement.digests(inputs, 1) == agreement.digests(inputs, 8)
    assert 4 == len(set(agreement.digests(inputs, 1)))


@pytest.mark.exhaustive
def test_the_command_compares_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == agreement.main(["--inputs", "2"])
    assert "8 threads" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["check-conversation", "events", "prepare", "simulator"])
def test_inputs_depend_on_their_seed_and_number_alone(name: str) -> None:
    target = TARGETS[name]
    one = [json.dumps(made(target, 0, None, number)) for number in range(8)]
    assert one == [json.dumps(made(target, 0, None, number)) for number in reversed(range(8))][::-1]
    assert 8 == len(set(one))


@pytest.mark.exhaustive
def test_another_process_makes_the_same_inputs() -> None:
    code = (
        "import json; from tests.fuzz.running import made; from tests.fuzz.targets import TARGETS;"
        "print(json.dumps([made(TARGETS[name], 5, None, 3) for name in ('check', 'formats', 'dialects')]))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)}
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True)
    expected = [made(TARGETS[name], 5, None, 3) for name in ("check", "formats", "dialects")]
    assert json.dumps(expected) == found.stdout.decode().strip()


def raising(given: Any, _folder: Path) -> str:
    if "tool" in json.dumps(given.get("value")):
        raise KeyError("tool")
    return "ok"


def drifting(given: Any, folder: Path) -> int:
    made = len([*folder.iterdir()])
    (folder / f"{made}").touch()
    return made


def endless(given: Any, _folder: Path) -> None:
    while time.process_time():
        """Until it is interrupted."""


@pytest.mark.parametrize(
    ("broken", "key"),
    [
        (raising, "KeyError in test_fuzz.py:raising"),
        (drifting, "the same input had another outcome"),
        (endless, "too slow"),
    ],
)
def test_a_fault_is_found(broken: Any, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TARGETS, "prepare", replace(TARGETS["prepare"], run=broken))
    monkeypatch.setattr(running, "LIMIT", 0.05)
    report = run(Job("prepare", seed=0, inputs=8))
    assert [key] == [*report.failures]


def changing(exchanges: list[Exchange], *_: object, **__: object) -> tuple[Outcome, ...]:
    for exchange in exchanges:
        if isinstance(exchange.request, dict):
            exchange.request["seen"] = True
    return ()


def breaking(*_: object, **__: object) -> tuple[Outcome, ...]:
    return (Outcome("request/schema-valid", Status.ERRORED, Level.MUST, reason="KeyError: 1"),)


@pytest.mark.parametrize(
    ("check", "key"),
    [(changing, "check changed an exchange"), (breaking, "request/schema-valid errored: KeyError: …")],
)
def test_a_check_that_breaks_or_changes_its_input_is_found(
    check: Any, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "check", check)
    assert [key] == [*run(Job("check", seed=0, inputs=16)).failures]


def test_a_failing_input_is_made_small_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(TARGETS, "prepare", replace(TARGETS["prepare"], run=raising))
    (failure,) = run(Job("prepare", seed=0, inputs=8)).failures.values()
    path = write(shrunk(failure), tmp_path)
    smallest = json.loads(path.read_text("utf-8"))["input"]["value"]
    assert len(json.dumps(smallest)) < 30
    assert 1 == main(["--input", str(path)])
    assert "KeyError: 'tool'" in capsys.readouterr().out


def test_the_number_of_processes_does_not_change_the_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TARGETS, "prepare", replace(TARGETS["prepare"], run=raising))
    job = Job("prepare", seed=0, inputs=41)
    alone, together = run(job), merged([run(each) for each in divided(job, 3)])
    assert (41, alone.failures) == (together.inputs, together.failures)


@pytest.mark.exhaustive
def test_the_command_uses_several_processes(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["--target", "events", "--target", "prepare", "--inputs", "60", "--jobs", "2", "--seed", "3"])
    assert ["seed", "events:", "prepare:", "target"] == [
        line.split()[0] for line in capsys.readouterr().out.splitlines()[:4]
    ]


def test_the_nightly_run_has_ten_million_inputs() -> None:
    (command,) = [words for step in NIGHTLY["steps"] if "tests.fuzz" in (words := shlex.split(step.get("run", "")))]
    given = [{"$NIGHT$PART": "120", "$(nproc)": "4"}.get(word, word) for word in command]
    options = parser().parse_args(given[given.index("tests.fuzz") + 1 :])
    assert 10_000_000 == options.inputs * len(NIGHTLY["strategy"]["matrix"]["part"])
    assert None is options.target
