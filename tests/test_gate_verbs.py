"""`conformance gate` and `conformance report diff`: the reports for people and pull requests, and exit codes."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

from conformance.cli import main
from conformance.results import Evidence, Finding, Level, Outcome, Status
from conformance.results.runs import Case, Results

DONE, ROLE = "stream/ends-with-done", "stream/role-first"
CASE = "example/plain-answer.stream"


def written(path: Path, **statuses: Status) -> Path:
    """Write results in which the rules of the example have these statuses."""
    rules = {"done": DONE, "role": ROLE}
    found = (Finding("/0/response", "expected `[DONE]`, got the end", Level.MUST),)
    outcomes = tuple(
        [
            Outcome(rules[name], status, Level.MUST, 1, found if status is Status.FAILED else ())
            for name, status in statuses.items()
        ]
    )
    case = Case("plain-answer", "stream", Evidence.LIVE, outcomes)
    path.write_bytes(orjson.dumps(Results("example", "m", (case,)).to_json()))
    return path


def expecting(path: Path, *matches: str) -> Path:
    ends = (datetime.now(UTC).date() + timedelta(300)).isoformat()
    about = f"reason: It never does.\n  link: https://example.org\n  until: {ends}\n"
    path.write_text("".join([f"- match: '{each}'\n  {about}{'  max: 9' * ('*' in each)}\n" for each in matches]))
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    ("status", "matches", "code", "verdict"),
    [
        (Status.PASSED, [], 0, "the gate is open; covered 0 of 1\n"),
        (Status.FAILED, [], 1, "the gate is closed: 1 unexpected failure; covered 0 of 1\n"),
        (Status.FAILED, [f"{CASE}/{DONE}"], 0, "the gate is open; covered 1 of 1\n"),
        (Status.PASSED, [f"{CASE}/{DONE}"], 1, "the gate is closed: 1 stale entry; covered 0 of 1\n"),
        (Status.FAILED, ["example/**", f"{CASE}/a/b"], 1, "the gate is closed: 1 unmatched entry; covered 1 of 1\n"),
        (Status.ERRORED, ["example/**"], 1, "the gate is closed: 1 errored, 1 stale entry; covered 0 of 1\n"),
    ],
)
def test_the_last_line_says_whether_the_gate_is_open(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    status: Status,
    matches: Sequence[str],
    code: int,
    verdict: str,
) -> None:
    results = written(tmp_path / "example.json", done=status)
    expected = ["--expected", expecting(tmp_path / "expected.yaml", *matches)] if matches else []
    given = run(capsys, "gate", "--allow-wide-baseline", results, *expected)
    assert (code, verdict) == (given[0], given[1].splitlines(keepends=True)[-1])


def test_the_report_names_everything_that_closes_the_gate_with_its_fix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    results = written(tmp_path / "example.json", done=Status.FAILED, role=Status.PASSED)
    expected = expecting(tmp_path / "expected.yaml", f"{CASE}/{ROLE}", f"{CASE}/stream/no-such-rule")
    _, out, _ = run(capsys, "gate", results, "--expected", expected)
    golden("gate.txt", out)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"{", "example.json:1"),
        (b"", "example.json"),
        (b"{}", 'expected the key "format"'),
        (orjson.dumps({**Results("a", "m", ()).to_json(), "cases": [{}]}), "/cases/0"),
        (orjson.dumps({**Results("a", "m", ()).to_json(), "format": 2}), "/format"),
    ],
)
def test_a_file_without_results_is_unusable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, complaint: str
) -> None:
    (tmp_path / "example.json").write_bytes(content)
    code, _, err = run(capsys, "gate", tmp_path)
    assert (2, True) == (code, complaint in err), err


def test_an_empty_folder_and_a_subject_given_twice_are_unusable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == run(capsys, "gate", tmp_path)[0]
    one, other = (written(tmp_path / name, done=Status.PASSED) for name in ("a.json", "b.json"))
    code, _, err = run(capsys, "gate", one, other)
    assert (2, True) == (code, "both have results of example" in err)


@pytest.mark.parametrize(
    ("before", "after", "code", "first"),
    [
        ({"done": Status.PASSED}, {"done": Status.PASSED}, 0, "no changes"),
        ({"done": Status.PASSED}, {"done": Status.FAILED}, 1, "newly failing: 1"),
        ({"done": Status.PASSED}, {"done": Status.ERRORED}, 1, "newly failing: 1"),
        ({"done": Status.FAILED}, {"done": Status.PASSED}, 0, "fixed: 1"),
        ({"done": Status.FAILED}, {"done": Status.FAILED}, 0, "no changes"),
        ({"done": Status.PASSED}, {"done": Status.PASSED, "role": Status.PASSED}, 0, "new and passing: 1"),
        ({"done": Status.PASSED}, {"done": Status.PASSED, "role": Status.FAILED}, 1, "newly failing: 1"),
        (
            {"done": Status.PASSED, "role": Status.PASSED},
            {"done": Status.PASSED},
            1,
            "no longer tested: 1",
        ),
    ],
)
def test_a_difference_exits_with_1_for_a_regression(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    before: dict[str, Status],
    after: dict[str, Status],
    code: int,
    first: str,
) -> None:
    old, new = written(tmp_path / "old.json", **before), written(tmp_path / "new.json", **after)
    given = run(capsys, "report", "diff", old, new)
    assert (code, first) == (given[0], given[1].splitlines()[0])


def test_a_difference_as_markdown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    old = written(tmp_path / "old.json", done=Status.PASSED)
    new = written(tmp_path / "new.json", done=Status.FAILED, role=Status.PASSED)
    _, out, _ = run(capsys, "report", "diff", "--format", "markdown", old, new)
    golden("difference.md", out)
