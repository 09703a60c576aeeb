"""A verb that is killed while it writes leaves what was there, and can be repeated."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.hostile.parrot import conformance, environment
from tests.sampling import some

VERB = """
import os, sys
from pathlib import Path
from conformance.cli import main

number, met = int(sys.argv[1]), iter(range(1, 10_000))
write = os.fsync


def killed(descriptor):
    if next(met) == number:
        os.kill(os.getpid(), 9)
    write(descriptor)


os.fsync = killed
sys.exit(main(sys.argv[2:]))
"""

VERBS: Final = {
    "record": (("provider", "record", "--provider", "baidu", "--cassettes", "out"), 3),
    "record, at its end": (("provider", "record", "--provider", "baidu", "--cassettes", "out"), 5),
    "replay": (("provider", "replay", "--provider", "baidu", "--results", "out"), 1),
    "adapter run": (
        ("adapter", "run", "--driver", "false", "--provider", "groq", "--scenario", "plain-answer", "--results", "out"),
        1,
    ),
    "calibrate": (("evidence", "calibrate", "--provider", "deepseek", "--write", "out", "in"), 1),
}
"""Verbs that write, and the file during which they are killed."""


@pytest.mark.slow
@pytest.mark.parametrize("verb", some(VERBS, 3, mark=pytest.mark.exhaustive))
def test_a_killed_verb_leaves_what_was_there_and_can_be_repeated(verb: str, tmp_path: Path) -> None:
    words, number = VERBS[verb]
    (tmp_path / "in").mkdir()
    record_line = {"request": {"model": "m", "messages": []}, "response": {}, "status": 400, "provider": "deepseek"}
    (tmp_path / "in" / "a.jsonl").write_text(json.dumps(record_line) + "\n")
    whole = conformance(*words, folder=tmp_path)
    assert whole.returncode in (0, 1, 2), whole.stderr
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.*") if path.suffix in (".yaml", ".json")}
    assert before
    killed = subprocess.run(
        [sys.executable, "-c", VERB, str(number), *words],
        cwd=tmp_path, env=environment(), capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert -signal.SIGKILL == killed.returncode, killed.stderr
    assert before == {path: path.read_bytes() for path in before}
    resumed = (*words, "--resume") if words[0] == "record" else words
    again = conformance(*resumed, folder=tmp_path)
    assert whole.returncode == again.returncode, again.stderr
    assert before == {path: path.read_bytes() for path in before}
