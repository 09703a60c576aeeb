"""Compatibility statements: made from results, valid by their schema, and refused if they say anything else."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.resources import folder
from conformance.results import PUBLIC_RECORDINGS, TRAFFIC, Evidence, Level, Outcome, Status
from conformance.results.files import read, write
from conformance.results.runs import Case, Results
from conformance.schemas import validator

ADAPTERS = folder("reports") / "results" / "adapters"
ADAPTER = next(ADAPTERS.glob("litellm@*.deepseek.json")).name.removesuffix(".deepseek.json")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a folder with the results of an engine and of an adapter."""
    (tmp_path / "results").mkdir()
    root = folder("reports") / "results"
    shutil.copy(root / "vllm.json", tmp_path / "results")
    shutil.copy(root / "adapters" / f"{ADAPTER}.deepseek.json", tmp_path / "results")
    return tmp_path / "results"


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: object) -> tuple[int, str, str]:
        code = main(["report", "statement", *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def made(results: Path, run: Run) -> Path:
    """Return the file of a statement about the results."""
    code, out, err = run("make", results, "--project", "Our <gateway>", "--url", "https://example.com")
    assert (0, "") == (code, err)
    path = results.parent / "statement.json"
    path.write_text(out)
    return path


def test_a_statement_holds_what_the_results_show(made: Path, results: Path) -> None:
    stated = json.loads(made.read_bytes())
    assert [] == list(validator("files/statement").errors(stated))
    adapter, engine = stated["subjects"]
    assert (f"{ADAPTER}/deepseek", "vllm") == (adapter["name"], engine["name"])
    assert sha256((results / "vllm.json").read_bytes()).hexdigest() == engine["results"]["sha256"]
    assert ["engine"] == engine["evidence"]
    assert {"conforms"} == set(engine["core_facts"].values())
    assert adapter["fails"]
    assert len(adapter["fails"]) == adapter["checks"]["fails"]
    assert "core_facts" not in adapter
    assert adapter["command"].startswith(f"conformance adapter run {ADAPTER} --provider deepseek")


def test_a_statement_is_verified_by_its_results(made: Path, results: Path, run: Run) -> None:
    code, out, err = run("verify", made, results)
    assert (0, "") == (code, err)
    assert [f"{ADAPTER}/deepseek: as stated", "vllm: as stated"] == [
        line.rpartition(": as stated")[0] + ": as stated" for line in out.splitlines()
    ]


def edited(path: Path, edit: Callable[[Any], object]) -> None:
    value = json.loads(path.read_bytes())
    edit(value)
    path.write_text(json.dumps(value))


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (
            lambda v: v["subjects"][0]["checks"].update(fails=0),
            f"{ADAPTER}/deepseek: checks.fails: stated 0, and the res",
        ),
        (
            lambda v: v["subjects"][0]["fails"].clear(),
            "fails: the results show loop/truncated-reply-discarded, which",
        ),
        (
            lambda v: v["subjects"][1]["core_facts"].pop("tool-call-ids"),
            "vllm: core_facts.tool-call-ids: stated nothing",
        ),
        (
            lambda v: v["subjects"][1].update(evidence=["live"]),
            "vllm: evidence: live is stated, and the results do not show it",
        ),
        (lambda v: v["subjects"][1]["versions"].update(vllm="9"), 'vllm: versions.vllm: stated "9"'),
        (lambda v: v["subjects"].pop(), "vllm: not stated, but there are results of it"),
        (lambda v: v["subjects"][1].update(name="groq"), "groq: stated, but there are no results of it"),
        (lambda v: v.update(date="2099-01-01"), "date: the statement was made on 2099-01-01, and today is"),
    ],
)
def test_a_statement_that_says_something_else_is_refused_with_what_differs(
    made: Path, results: Path, run: Run, edit: Callable[[Any], object], words: str
) -> None:
    edited(made, edit)
    code, out, _ = run("verify", made, results)
    assert (1, True) == (code, words in out), out
    assert "refused: " in out.splitlines()[-1]


def test_other_bytes_of_the_results_are_refused(made: Path, results: Path, run: Run) -> None:
    path = results / "vllm.json"
    path.write_text(path.read_text() + "\n")
    code, out, _ = run("verify", made, path, results / f"{ADAPTER}.deepseek.json")
    assert (1, 2) == (code, len(out.splitlines())), out
    assert "vllm: results.sha256: stated " in out


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda v: v.pop("date"), "missing"),
        (lambda v: v["subjects"].append(v["subjects"][0]), "expected each subject once"),
        (lambda v: v["subjects"][0]["results"].update(sha256="1"), "at /subjects/0/results/sha256: "),
        (lambda v: v.update(more=1), "at (root): "),
    ],
)
def test_a_file_that_is_no_statement_is_an_error_with_a_pointer(
    made: Path, results: Path, run: Run, edit: Callable[[Any], object], words: str
) -> None:
    edited(made, edit)
    code, out, err = run("verify", made, results)
    assert (2, "", True) == (code, out, "statement.json" in err and ("at " in err or words in err)), err


def test_what_a_statement_names_is_safe_to_print(made: Path, results: Path, run: Run) -> None:
    edited(made, lambda value: value["subjects"][0].update(name="\x1b[2J\n::error::no"))
    code, out, _ = run("verify", made, results)
    assert (1, False, False) == (code, "\x1b" in out, "\n::error" in out)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["make", "nothing"], "nothing: cannot be read"),
        (["make", "."], "no results found"),
        (["make", "results", "--url", "javascript:x"], "--url javascript:x: expected an http or https URL"),
        (["verify", "gone.json", "results"], "gone.json: cannot be read"),
    ],
)
def test_an_unusable_call_says_what_to_do(
    results: Path, run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(results.parent)
    code, _, err = run(*arguments)
    assert (2, True) == (code, words in err), err


@pytest.mark.parametrize(
    ("scenario", "command"),
    [
        ("one-tool-call", "pytest --provider=vllm --model 'a b' --live --base-url URL --results results"),
        (TRAFFIC, "conformance proxy --upstream URL --provider vllm --results results"),
        (PUBLIC_RECORDINGS, "pytest --provider=vllm --evidence recorded --results results"),
    ],
)
def test_the_command_repeats_what_was_done(tmp_path: Path, run: Run, scenario: str, command: str) -> None:
    passed = Outcome("stream/ends-with-done", Status.PASSED, Level.MUST, 1)
    write(tmp_path, Results("vllm", "a b", (Case(scenario, "stream", Evidence.LIVE, (passed,)),)))
    assert command == json.loads(run("make", tmp_path)[1])["subjects"][0]["command"]


def test_results_that_checked_nothing_give_no_statement(tmp_path: Path, run: Run) -> None:
    whole = read(folder("reports") / "results" / "vllm.json")
    idle = tuple([replace(case, outcomes=(), probes=()) for case in whole.cases])
    for cases, words in ((idle, "nothing was checked, so there is nothing to state"), ((), "has no cases")):
        write(tmp_path, replace(whole, cases=cases))
        code, _, err = run("make", tmp_path)
        assert (2, True) == (code, words in err)
