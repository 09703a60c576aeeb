"""`conformance check --timings`: what it prints, where, and that the report stays what it is."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.files.timings import DEAREST, STAGES, timings_of
from tests.checking import BASES, ENVIRONMENT, FAULTY, GOOD, check, jsonl, write
from tests.drawn_sessions import drawn
from tests.loops import every

SESSION = jsonl(*[{**each, "session": "a"} for each in BASES["thinking-session"]])


def _json(error: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(error.splitlines()[-1])["timings"]
    return found


@every(
    ("name", "value", "exchanges"),
    [
        ("a.jsonl", jsonl(GOOD, FAULTY), 2),
        ("a.json", FAULTY, 1),
        ("a.jsonl.gz", jsonl(GOOD), 1),
        ("a.jsonl", SESSION, 4),
    ],
)
def test_stages_and_rules_are_on_standard_error_and_the_report_is_the_same(
    name: str, value: object, exchanges: int, tmp_path: Path
) -> None:
    path = write(tmp_path / name, value)
    plain, timed = (check(path, "--format", "jsonl", *options) for options in ((), ("--timings",)))
    assert plain[:2] == timed[:2]
    found = _json(timed[2])
    assert exchanges == found["exchanges"]
    assert list(STAGES) == list(found["stages"])
    assert pytest.approx(1, abs=0.01) == sum(each["share"] for each in found["stages"].values())
    assert found["bytes"] > 100
    assert found["megabytes_per_second"] > 0
    assert DEAREST == len(found["rules"])
    assert found["rules"] == sorted(found["rules"], key=lambda each: -each["cpu_seconds"])


def test_people_read_a_table(tmp_path: Path) -> None:
    _, out, error = check(write(tmp_path / "a.json", FAULTY), "--timings", "--provider", "none")
    heading, columns, *_ = error.splitlines()
    assert heading.startswith("1 exchange, 0.0 MB of bodies in ")
    assert "MB/s" in heading
    assert columns.split() == ["stage", "CPU", "share"]
    assert "\nrules " in error
    assert "transcript/" in error
    assert "MB/s" not in out


@pytest.mark.slow
@every("options", [("--jobs", "2"), ()], ids=str)
def test_several_processes_and_standard_input_are_measured(options: Sequence[str]) -> None:
    lines = [{"request": each.request, "response": each.response, "session": "a"} for each in drawn(1)]
    command = [sys.executable, "-m", "conformance", "check", "--timings", "--format", "jsonl", *options, "-"]
    done = subprocess.run(
        command, input=jsonl(*lines).encode(), env=ENVIRONMENT, capture_output=True, timeout=120, check=False
    )
    found = _json(done.stderr.decode())
    assert len(lines) == found["exchanges"]
    assert found["stages"]["rules"]["cpu_seconds"] > 0
    assert found["stages"]["reading the files"]["cpu_seconds"] > 0


def test_times_of_rules_by_the_clock_are_scaled_to_the_time_of_the_processor() -> None:
    counts = {
        ("nanoseconds", "rules"): 50_000_000,
        ("nanoseconds", "reading the files"): 150_000_000,
        ("rules by the clock", ""): 100_000_000,
        ("rule nanoseconds", "stream/complete"): 40_000_000,
        ("rule calls", "stream/complete"): 7,
        ("bytes", ""): 4_000_000,
        ("parsing nanoseconds", ""): 20_000_000,
    }
    shown = timings_of(counts, 100).to_json()
    assert [{"rule": "stream/complete", "cpu_seconds": 0.02, "share": 0.1, "judged": 7}] == shown["rules"]
    assert (20.0, 2000.0, 10.0) == (
        shown["megabytes_per_second"], shown["microseconds_per_exchange"], shown["times_parsing"],
    )  # fmt: skip
    assert {"cpu_seconds": 0.15, "share": 0.75} == shown["stages"]["reading the files"]
