"""The index of recordings as a wheel holds it: columns that give back each line byte for byte."""

from pathlib import Path

import orjson
import pytest

from conformance.errors import InvalidDocument
from conformance.evidence import columns, index
from conformance.resources import folder


def test_the_columns_of_the_index_give_back_every_line() -> None:
    lines = [line for path in sorted(index.FOLDER.glob("*.jsonl")) for line in path.read_bytes().splitlines()]
    assert lines == [orjson.dumps(each) for each in columns.unpacked(columns.packed(lines))]


def test_a_calibration_with_positions_gives_back_the_digests() -> None:
    lines = [line for path in sorted(index.FOLDER.glob("*.jsonl")) for line in path.read_bytes().splitlines()]
    held = (folder("reports") / "results" / "calibration" / "xai.json").read_bytes()
    numbered = orjson.loads(columns.numbered(held, columns.positions(lines)))
    assert all(isinstance(each, int) for each in numbered["exchanges"])
    assert orjson.loads(held) == numbered | {"exchanges": index.digests(numbered["exchanges"])}


def test_an_index_of_columns_is_loaded_like_its_lines(tmp_path: Path) -> None:
    lines = (index.FOLDER / "simonw+llm.jsonl").read_bytes().splitlines()
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "simonw+llm.jsonl").write_bytes(b"\n".join(lines))
    (tmp_path / "columns").mkdir()
    (tmp_path / "columns" / columns.NAME).write_bytes(columns.packed(lines))
    found = index.load(tmp_path / "columns")
    assert (20, index.load(tmp_path / "lines")) == (len(found), found)


def test_columns_with_an_impossible_commit_are_refused(tmp_path: Path) -> None:
    line = b'{"repository":"o/n","commit":"--upload-pack=x","path":"a","licence":"MIT","exchanges":[]}'
    (tmp_path / columns.NAME).write_bytes(columns.packed([line]))
    with pytest.raises(InvalidDocument, match="expected owner/name and the 40 digits of a commit"):
        index.load(tmp_path)
