import json
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.errors import Unrecognized
from conformance.formats import Input, read_block, read_path, read_path_in_blocks
from conformance.formats.blocks import LineBlock, split
from conformance.formats.jsonl import Line, read_lines
from tests.wires import CHUNK, REPLY, REQUEST, lines

SESSION = {"session": "a", "request": REQUEST, "response": REPLY}
EMPTY_LOG = b'{"resourceSpans": []}'
KINDS = [
    *[json.dumps(each).encode() for each in (REQUEST, REPLY, CHUNK, SESSION, {**SESSION, "session": "b"})],
    json.dumps(SESSION).replace("session", "\\u0073ession").encode(),
    json.dumps(CHUNK).replace("delta", "d\\u0065lta").encode(),
    json.dumps({**CHUNK, "choices": []}).encode(),
    json.dumps([CHUNK, CHUNK]).encode(),
    b'{"type": "response.created", "sequence_number": 0, "response": {"id": "resp_1", "object": "response"}}',
    b'{"type": "response.in_progress", "response": {"id": "resp_1", "object": "response"}}',
    b'{"type": "message_start", "message": {"id": "msg_1", "type": "message", "content": []}}',
    b'{"type": "content_block_stop", "index": 0}',
    b'{"request":',
    EMPTY_LOG,
]
RECORDS = [
    json.dumps({"event_name": name, "attributes": {}, "span_id": span, "body": body}).encode()
    for span in "ab"
    for name, body in (
        ("gen_ai.user.message", {"content": "Hello"}),
        ("gen_ai.choice", {"message": {"role": "assistant", "content": "Hi"}}),
    )
]


def shown(found: Input) -> list[Any]:
    return [*found[:-1], str(found.problem)]


def in_blocks(given: list[Line], least: int) -> list[LineBlock | Input]:
    blocks: list[LineBlock | Input] = pickle.loads(pickle.dumps(list(split(given, "x", least))))  # noqa: S301 — just made
    return blocks


def inputs_in(blocks: list[LineBlock | Input]) -> list[Any]:
    return [shown(found) for each in blocks for found in ([each] if isinstance(each, Input) else read_block(each))]


def lines_in(blocks: Iterable[LineBlock | Input]) -> list[tuple[Line, ...]]:
    return [each.lines for each in blocks if isinstance(each, LineBlock)]


@given(st.lists(st.sampled_from(KINDS), max_size=12), st.integers(1, 4))
def test_blocks_hold_the_inputs_of_the_lines_in_order(data: list[bytes], least: int) -> None:
    given_lines = [Line(number, each) for number, each in enumerate(data, 1)]
    blocks = in_blocks(given_lines, least)
    read = inputs_in(blocks)
    assert [shown(each) for each in read_lines(given_lines, "x")] == read
    assert (given_lines if read else []) == [line for found in lines_in(blocks) for line in found]


@given(st.lists(st.sampled_from([*KINDS[:6], *RECORDS]), max_size=12), st.integers(1, 4))
def test_from_the_first_part_of_a_call_on_there_are_inputs_instead(data: list[bytes], least: int) -> None:
    given_lines = [Line(number, each) for number, each in enumerate(data, 1)]
    blocks = in_blocks(given_lines, least)
    assert [shown(each) for each in read_lines(given_lines, "x")] == inputs_in(blocks)


def test_lines_that_stand_alone_are_split_without_being_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = [Line(number, json.dumps(each).encode()) for number, each in enumerate([REQUEST, REPLY] * 4)]
    monkeypatch.setattr("conformance.formats.blocks.inputs_of", read := Counted())
    assert [3, 3, 2] == [*map(len, lines_in(split(alone, "x", 3)))]
    assert [0] == read.numbers


class Counted:
    """Stands for the reader of a line, and counts its calls."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def __call__(self, line: Line, path: str) -> list[Input]:
        self.numbers.append(line.number)
        return [Input(path, line.number, "request")]


def test_a_session_and_a_stream_are_never_split() -> None:
    data = [SESSION] * 5 + [CHUNK] * 5 + [REQUEST]
    given_lines = [Line(number, json.dumps(each).encode()) for number, each in enumerate(data)]
    assert [5, 5, 1] == [*map(len, lines_in(split(given_lines, "x", 1)))]


def test_only_the_first_block_has_the_note_on_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + lines(*[REQUEST] * 300))
    blocks = list(read_path_in_blocks(path))
    assert [shown(each) for each in read_path(path)] == [
        shown(each) for block in blocks if isinstance(block, LineBlock) for each in read_block(block)
    ]
    assert [True, *[False] * 9] == [isinstance(block, LineBlock) and bool(block.note) for block in blocks]


def test_a_file_without_inputs_is_an_error_in_blocks_too(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(EMPTY_LOG + b"\n" + EMPTY_LOG)
    for reader in (read_path, read_path_in_blocks):
        with pytest.raises(Unrecognized, match="without any of them"):
            list(reader(path))
