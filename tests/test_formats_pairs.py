"""The requests and replies of a batch, which are in different files, are checked together."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.files import CheckedInput, Task, check_paths
from conformance.formats import Input
from conformance.formats.pairs import files_of_a_batch, read_joined
from conformance.resources import folder
from tests.wires import ERROR, REPLY, REQUEST, lines

FIXTURES = folder("fixtures") / "formats"
TWO_CHOICES = {**REPLY, "choices": [*REPLY["choices"], {**REPLY["choices"][0], "index": 1}]}  # type: ignore[misc, index]


def asked(name: str, body: Any = REQUEST, url: str | None = "/v1/chat/completions") -> dict[str, Any]:
    line = {"custom_id": name, "method": "POST", "body": body}
    return line if url is None else line | {"url": url}


def replied(name: str, body: Any = REPLY, status: int = 200) -> dict[str, Any]:
    return {"id": "b", "custom_id": name, "response": {"status_code": status, "body": body}, "error": None}


EXPIRED = {"custom_id": "c", "response": None, "error": {"code": "batch_expired"}}


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(**files: list[dict[str, Any]]) -> list[str]:
        for name, each in files.items():
            (tmp_path / f"{name}.jsonl").write_bytes(lines(*each))
        return [str(tmp_path / f"{name}.jsonl") for name in files]

    return write


def read(paths: list[str]) -> list[Input]:
    return list(read_joined(files_of_a_batch(paths)))


def shown(found: Input) -> tuple[str, int | None, list[tuple[bool, bool]], str]:
    halves = [(each.request is not None, each.response is not None) for each in found.conversation]
    return Path(found.path).stem, found.line, halves, found.notes[-1].partition(":")[0] if found.notes else ""


def test_a_reply_has_its_request_and_what_has_no_other_half_says_so(written: Any) -> None:
    paths = written(sent=[asked("a"), asked("b"), asked("c")], got=[replied("b"), replied("x"), EXPIRED])
    found = read(paths)
    assert [
        ("got", 1, [(True, True)], "joined with its request, " + paths[0]),
        ("got", 2, [(False, True)], "checked without its request"),
        ("got", 3, [(True, False)], "joined with its request, " + paths[0]),
        ("sent", 1, [(True, False)], "checked without a reply"),
    ] == [shown(each) for each in found]
    assert [f"joined with its request, {paths[0]}:{number}" for number in (2, 3)] == [
        found[0].notes[0],
        found[2].notes[1],
    ]
    assert "the batch reports the error 'batch_expired'" in found[2].notes[0]
    assert "no request has the custom_id 'x'" in found[1].notes[0]
    assert "no reply has the custom_id 'a'" in found[3].notes[0]


def test_the_order_and_the_number_of_files_make_no_difference(written: Any) -> None:
    sent_1, got_1, got_2, sent_2 = written(
        one=[asked("a")], two=[replied("b")], three=[replied("a", ERROR, 400)], four=[asked("b")]
    )
    found = read([sent_1, got_1, got_2, sent_2, got_1])
    assert [[(True, True)]] * 2 == [shown(each)[2] for each in found]
    assert [(200, REPLY), (400, ERROR)] == [
        (each.conversation[0].status, each.conversation[0].response) for each in found
    ]


def test_an_id_that_several_requests_have_joins_none_of_them(written: Any) -> None:
    found = read(written(sent=[asked("a"), asked("b"), asked("a"), asked("a")], got=[replied("a"), replied("b")]))
    assert [
        ("sent", 1, [(True, False)], "not joined with a reply"),
        ("sent", 3, [(True, False)], "not joined with a reply"),
        ("sent", 4, [(True, False)], "not joined with a reply"),
        ("got", 1, [(False, True)], "checked without its request"),
        ("got", 2, [(True, True)]),
    ] == [shown(each)[: 3 if each.line == 2 else 4] for each in found]


def test_the_reply_to_what_is_not_checked_is_not_checked(written: Any) -> None:
    sent = [asked("a", {"model": "m", "input": "Hello"}, "/v1/embeddings"), asked("b", REQUEST, None)]
    found = read(written(sent=sent, got=[replied("a", ERROR, 400), replied("b")]))
    assert [[], [], [(True, True)]] == [shown(each)[2] for each in found]
    assert "skipped, not chat completions: POST /v1/embeddings" == found[0].notes[0]
    assert ("skipped, the reply to a request that is not checked",) == found[1].notes


def test_a_batch_of_responses_is_read_by_its_url(written: Any) -> None:
    body = {"id": "r", "object": "response", "status": "completed", "output": []}
    (found,) = read(
        written(sent=[asked("a", {"model": "m", "input": "Hi"}, "/v1/responses")], got=[replied("a", body)])
    )
    assert [(True, True)] == shown(found)[2]
    assert "/v1/responses" == found.conversation[0].url


def test_a_line_that_cannot_be_read_is_a_problem_and_the_others_are_joined(written: Any) -> None:
    sent, got = written(sent=[asked("a"), asked("b", "{")], got=[replied("a"), replied("b")])
    Path(got).write_bytes(Path(got).read_bytes() + b"{\n")
    found = read([sent, got])
    assert [("sent", 2), ("got", 3)] == [shown(each)[:2] for each in found if each.problem]
    assert [[(True, True)], [(False, True)]] == [shown(each)[2] for each in found if not each.problem]


def test_files_that_are_no_halves_of_a_batch_stay_apart(tmp_path: Path, written: Any) -> None:
    sent, got, other = written(sent=[asked("a")], got=[replied("a")], other=[REQUEST])
    missing = str(tmp_path / "missing.jsonl")
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "damaged.jsonl").write_bytes(gzip.compress(lines(asked("a")))[:20])
    for paths in (
        [got, str(tmp_path / "damaged.jsonl")],
        [sent],
        [sent, other],
        [got, other],
        [sent, missing],
        [sent, str(tmp_path / "empty.jsonl"), "-"],
    ):
        assert ((), ()) == files_of_a_batch(paths)
        assert [] == read(paths)


@pytest.fixture
def batch(written: Any) -> list[str]:
    sent = [asked(f"r{number}", {**REQUEST, "n": 1}) for number in range(40)]
    return list(written(sent=sent, got=[replied(f"r{number}", TWO_CHOICES) for number in range(40)], other=[REQUEST]))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_rule_that_needs_both_halves_finds_what_neither_shows_alone(batch: list[str], jobs: int) -> None:
    task = Task(rules=("response/choice-count-matches-n",))
    assert [] == findings(check_paths(batch[:1], task, list)) + findings(check_paths(batch[1:2], task, list))
    assert [(batch[1], number) for number in range(1, 41)] == findings(check_paths(batch, task, list, jobs))


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_halves_are_found_in_their_folder(batch: list[str], jobs: int) -> None:
    """They are read once, and so is the file beside them that is of no batch."""
    folder_ = str(Path(batch[0]).parent)
    task = Task(rules=("response/choice-count-matches-n",))
    assert [(batch[1], number) for number in range(1, 41)] == findings(check_paths([folder_], task, list, jobs))
    reports = [each.report for some in check_paths([folder_], Task(), list) for each in some]
    assert {batch[1]: 40, batch[2]: 1} == Counter(each["path"] for each in reports)


def test_halves_in_different_folders_stay_apart(batch: list[str], tmp_path: Path) -> None:
    below = tmp_path / "replies"
    below.mkdir()
    Path(batch[1]).rename(below / "got.jsonl")
    assert [] == findings(check_paths([str(tmp_path)], Task(rules=("response/choice-count-matches-n",)), list))


def findings(found: Iterator[list[CheckedInput]]) -> list[tuple[str, int]]:
    reports = [each.report for some in found for each in some]
    assert [] == [each["error"] for each in reports if "error" in each]
    return [(each["path"], each["line"]) for each in reports if each["outcomes"]]


def test_the_fixture_is_joined_by_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(FIXTURES / f"batch-{side}.jsonl") for side in ("input", "output")]
    assert 0 == main(["check", "--format", "jsonl", *paths])
    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [f"joined with its request, {paths[0]}:1"] == [
        note for each in reports for note in each.get("notes", ()) if note.startswith("joined")
    ]
