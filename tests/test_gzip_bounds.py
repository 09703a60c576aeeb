"""Gzip that stands for far more than its size: files are read until that shows, and no further."""

import gzip
import zlib
from io import BufferedReader, BytesIO
from itertools import chain, repeat
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.errors import InvalidDocument
from conformance.formats.compression import open_file
from conformance.formats.gzip_file import UnpackedFile
from tests.checking import GOOD, jsonl
from tests.loops import every

MEGABYTE = 1024 * 1024


def bomb(path: Path, unit: bytes, size: int) -> Path:
    """Pack a unit until it has a size; the same piece again and again, as no compressor needs more."""
    piece = unit * (MEGABYTE // len(unit))
    with gzip.open(path, "wb") as file:
        for _ in range(size // len(piece)):
            file.write(piece)
    return path


def read_to_the_end(path: Path, how: str, counts: list[int]) -> None:
    with open_file(path) as file:
        while data := getattr(file, how)(1024):
            counts.append(len(data))


@every("unit", [b"\0", b"\n", b"{}\n", b"[]", b" ", b"a", b'{"a":1}\n'])
def test_a_bomb_is_read_no_further_than_it_shows(tmp_path: Path, unit: bytes) -> None:
    path = bomb(tmp_path / "bomb.jsonl.gz", unit, 4 * MEGABYTE)
    for how in ("read", "readline"):
        counts: list[int] = []
        with pytest.raises(InvalidDocument, match="and what follows is not read"):
            read_to_the_end(path, how, counts)
        assert MEGABYTE // 2 < sum(counts) < 2 * MEGABYTE


def test_the_command_says_why_it_stops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bomb(tmp_path / "bomb.jsonl.gz", b"\n", 8 * MEGABYTE)
    assert 2 == main(["check", str(path)])
    assert "and what follows is not read" in "".join(capsys.readouterr())


def test_equal_lines_of_a_log_are_read_to_the_end(tmp_path: Path) -> None:
    lines = jsonl(*[GOOD] * 4_000).encode()
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(lines))
    assert len(lines) > MEGABYTE
    with open_file(path) as file:
        assert lines == file.read()


def test_what_is_unusual_is_read_for_a_minute() -> None:
    data = gzip.compress(b'{"key":"value 1234567890"}\n' * 40_000)
    for seconds, is_read in ((59.0, True), (61.0, False)):
        times = chain([0.0], repeat(seconds))
        with BufferedReader(UnpackedFile(BytesIO(data), "a.gz", times.__next__)) as file:
            if is_read:
                assert 40_000 == len(file.read().splitlines())
                continue
            with pytest.raises(InvalidDocument, match="what follows is not read after a minute"):
                file.read()


def test_members_padding_and_damage_are_those_of_the_gzip_module(tmp_path: Path) -> None:
    packed, path = gzip.compress(b"one\n"), tmp_path / "a.gz"
    for data, expected in (
        (packed, b"one\n"),
        (packed * 3, b"one\n" * 3),
        (packed + b"\0" * 40_000, b"one\n"),
        (packed + b"\0" * 40_000 + packed, b"one\n" * 2),
        (gzip.compress(b""), b""),
    ):
        path.write_bytes(data)
        with open_file(path) as file:
            assert expected == file.read() == gzip.decompress(data)
    for data in (packed[:-3], packed + packed[:5], packed[:-8] + b"12345678", packed + b"more", b"\x1f\x8b"):
        path.write_bytes(data)
        with open_file(path) as file, pytest.raises((EOFError, zlib.error)):
            file.read()
