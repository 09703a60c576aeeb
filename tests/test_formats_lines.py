import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from conformance.formats import read, read_path
from conformance.formats.compression import open_file
from conformance.formats.jsonl import Line, read_lines, split_lines
from conformance.resources import folder
from tests.wires import REPLY, REQUEST, lines, one

BYTES = folder("fixtures") / "bytes"


def test_a_broken_line_does_not_affect_the_others() -> None:
    path = BYTES / "broken-line.jsonl"
    expected = [
        (1, "exchange", None),
        (2, "jsonl", "/request"),
        (4, "jsonl", "/request"),
        (5, "exchanges", None),
    ]
    for found in (list(read_path(path)), list(read(path.read_bytes(), str(path)))):
        places = [(each.line, each.kind, each.problem.pointer if each.problem else None) for each in found]
        assert expected == sorted(places)
        problems = [each.problem for each in found if each.problem]
        assert [(str(path), 2), (str(path), 4)] == [(each.file, each.line) for each in problems]


def session(name: str, number: int) -> dict[str, Any]:
    return {"session": name, "request": {"messages": [], "n": number}, "response": REPLY}


def test_lines_of_one_session_are_one_conversation() -> None:
    data = lines(session("a", 0), session("a", 1), REQUEST, session("b", 2), session("a", 3), session("c", 4))
    found = list(read(data, "x.jsonl"))
    expected = [("exchanges", (1, 2)), ("request", ()), ("exchange", (4,)), ("exchange", (5,)), ("exchange", (6,))]
    assert expected == [(each.kind, each.lines) for each in found]
    assert ["a", "", "b", "a", "c"] == [each.session for each in found]
    assert ["its session occurred before"] == [note[:27] for each in found for note in each.notes]


def test_a_session_with_a_broken_line_has_a_note() -> None:
    problem, whole = read(lines(session("a", 0), "{", session("a", 1)), "x.jsonl")
    assert (2, 2) == (problem.line, len(whole.conversation))
    assert ["some of its lines cannot be read"] == [note[:32] for note in whole.notes]


def test_a_line_of_another_api_is_skipped_with_a_note() -> None:
    record = {"api": "anthropic", "request": {}, "response": {}, "provider": "p"}
    found = one(lines(record, "")[:-1], "x.jsonl")
    expected = ("native", (), ("skipped, neither chat completions nor another wire that is known: api 'anthropic'",))
    assert expected == (found.kind, found.conversation, found.notes)


def test_lines_are_recognized_by_their_content_too() -> None:
    for name in ("x.txt", "x.json", "x"):
        assert ["request", "request"] == [each.kind for each in read(lines(REQUEST, REQUEST), name)]
        assert ["request"] == [each.kind for each in read(json.dumps(REQUEST, indent=1).encode(), name)]


def test_a_line_beyond_the_bound_is_reported_and_skipped(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n' + b" " * 300_000 + b"1" * 300_000 + b'\n\n{"b": 2}'))
    with open_file(path) as file:
        found = list(split_lines(file, "x", bound=1000))
    assert [(1, b'{"a": 1}'), (2, b""), (4, b'{"b": 2}')] == [(line.number, line.data) for line in found]
    assert ["x:2: expected at most 1000 bytes a line, got more"] == [
        str(line.problem) for line in found if line.problem
    ]


@pytest.mark.parametrize("cut", [20, 200, -4])
def test_damaged_gzip_ends_with_a_problem(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(lines(*({**REQUEST, "n": number * 7919 % 1009} for number in range(500))))[:cut])
    *whole, last = read_path(path)
    assert {"request"} >= {each.kind for each in whole}
    assert last.problem
    assert f"{path}:{len(whole) + 1}: cannot be read beyond this line" in str(last.problem)


@pytest.mark.slow
def test_long_files_of_lines_are_read_in_constant_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.gz"
    line = json.dumps({**REQUEST, "padding": "x" * 50_000}).encode() + b"\n"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(1000):
            stream.write(line)
    tracemalloc.start()
    count = sum(len(each.conversation) for each in read_path(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (1000, True) == (count, peak < 2_000_000)


def test_lines_can_be_split_and_read_separately(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(lines(REQUEST, REPLY))
    with open_file(path) as file:
        split = list(split_lines(file, str(path)))
    assert [(1, False), (2, False)] == [(line.number, line.problem is not None) for line in split]
    expected = ["request", "response"]
    assert expected == [each.kind for each in read_lines(split, str(path))]
    assert expected[1:] == [each.kind for each in read_lines([Line(2, json.dumps(REPLY).encode())], str(path))]
