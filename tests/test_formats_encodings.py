import builtins
import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import brotli
import pytest
import zstandard

from conformance.documents import BOUNDS
from conformance.errors import InvalidDocument
from conformance.files import files_of
from conformance.formats import read_path
from conformance.formats.bodies import decode
from conformance.formats.compression import unzip
from conformance.formats.inputs import pointer_lines
from tests.wires import DONE, EVENT, REPLY, REPLY_TEXT, REQUEST, REQUEST_TEXT, cassette, lines, one

PACKED = {
    "br": brotli.compress(REPLY_TEXT.encode()),
    "zstd": zstandard.compress(REPLY_TEXT.encode()),
    "deflate": zlib.compress(REPLY_TEXT.encode()),
}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_a_file_of_another_encoding_is_read_with_one_note(tmp_path: Path, name: str, encoding: str) -> None:
    path = tmp_path / name
    count = 2 if name == "x.jsonl" else 1
    path.write_bytes("".join(f"{REQUEST_TEXT}\n" for _ in range(count)).encode(encoding))
    found = list(read_path(path))
    assert [REQUEST] * count == [exchange.request for each in found for exchange in each.conversation]
    assert [1, 0][:count] == [len(each.notes) for each in found]


def test_lines_of_findings_are_known_in_utf_16(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(json.dumps(REQUEST, indent=0).encode("utf-16"))
    (found,) = read_path(path)
    assert {"/0/request/model": 2} == pointer_lines(found, ["/0/request/model"])


@pytest.mark.parametrize("coding", PACKED)
def test_a_packed_body_is_unpacked(coding: str) -> None:
    for stored in (PACKED[coding], REPLY_TEXT.encode(), REPLY_TEXT):
        response = {"headers": {"Content-Encoding": [coding]}, "body": {"string": stored}, "status": {"code": 200}}
        assert REPLY == one(cassette({"body": REQUEST_TEXT}, response)).conversation[0].response


def test_a_file_packed_with_zstd_is_read() -> None:
    assert [REPLY] == [exchange.response for exchange in one(zstandard.compress(REPLY_TEXT.encode())).conversation]
    assert EVENT + DONE == one(zstandard.compress((EVENT + DONE).encode())).conversation[0].response
    assert "jsonl" != one(zstandard.compress(lines(REQUEST).strip()), "x.jsonl.zst").kind


@pytest.mark.parametrize(
    ("name", "data", "replies"),
    [
        ("x.json.br", REPLY_TEXT.encode(), 1),
        ("x.jsonl.BR", lines(REPLY, REPLY), 2),
        ("x.sse.br", (EVENT + DONE).encode(), 1),
        ("x.br", b"\xef\xbb\xbf" + REPLY_TEXT.encode(), 1),
    ],
)
def test_a_file_packed_with_brotli_is_read_by_its_name(tmp_path: Path, name: str, data: bytes, replies: int) -> None:
    path = tmp_path / name
    path.write_bytes(brotli.compress(data))
    assert replies == sum(len(each.conversation) for each in read_path(path))


def test_lines_of_findings_are_known_in_a_file_packed_with_brotli(tmp_path: Path) -> None:
    path = tmp_path / "x.json.br"
    path.write_bytes(brotli.compress(json.dumps(REQUEST, indent=0).encode()))
    (found,) = read_path(path)
    assert {"/0/request/model": 2} == pointer_lines(found, ["/0/request/model"])


@pytest.mark.parametrize(
    ("message", "data"),
    [
        ("after decompression, got more", brotli.compress(b"0" * (BOUNDS.bytes + 1), quality=1)),
        ("expected complete brotli data", PACKED["br"][:-9]),
        ("expected brotli data", REPLY_TEXT.encode()),
    ],
)
def test_a_file_that_is_no_whole_brotli_data_or_unpacks_beyond_the_bound_is_rejected(
    tmp_path: Path, message: str, data: bytes
) -> None:
    path = tmp_path / "x.jsonl.br"
    path.write_bytes(data)
    with pytest.raises(InvalidDocument, match=message):
        list(read_path(path))


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".br"])
def test_a_packed_file_is_found_in_a_folder(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.jsonl{suffix}"
    path.touch()
    (tmp_path / f"x.txt{suffix}").touch()
    assert [path] == [file.path for file in files_of(str(tmp_path))]


class Counted:
    """An unpacker of zlib that counts the bytes that it is given and those that it copies."""

    work = 0

    def __init__(self, *arguments: Any) -> None:
        self._unpacker = DECOMPRESSOBJ(*arguments)

    def decompress(self, data: Any, limit: int) -> bytes:
        Counted.work += len(data)
        result = self._unpacker.decompress(data, limit)
        Counted.work += len(self._unpacker.unused_data) + len(self._unpacker.unconsumed_tail)
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._unpacker, name)


DECOMPRESSOBJ = zlib.decompressobj


@pytest.mark.parametrize("member", [b"", b"[1]", bytes(range(256)) * 300])
def test_unpacking_costs_no_more_for_many_members(member: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(member)
    count = 60_000 // len(packed) + 2
    data = (packed + b"\0\0") * count
    monkeypatch.setattr(zlib, "decompressobj", Counted)
    monkeypatch.setattr(Counted, "work", 0)
    assert member * count == unzip(data, "file")
    assert 3 * len(data) + 100 * count > Counted.work


def test_gzip_that_unpacks_beyond_the_bound_is_rejected_at_the_bound() -> None:
    members = gzip.compress(b"0" * (BOUNDS.bytes // 2)) * 3
    with pytest.raises(InvalidDocument, match="after decompression, got more"):
        unzip(members, "file")


@pytest.mark.parametrize("coding", ["br", "zstd"])
def test_a_missing_library_is_named_with_its_extra(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **more: Any) -> Any:
        if name in {"brotli", "zstandard"}:
            raise ImportError
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    extra = {"br": "brotli", "zstd": "zstandard"}[coding]
    with pytest.raises(InvalidDocument, match=rf"^file: is packed with .* pip install 'wire-conformance\[{extra}\]'$"):
        decode(PACKED[coding], "file", coding)


@pytest.mark.parametrize("coding", ["br", "zstd"])
def test_a_body_that_is_damaged_or_unpacks_beyond_the_bound_is_rejected(coding: str) -> None:
    whole = b"0" * (BOUNDS.bytes + 1)
    bomb = brotli.compress(whole, quality=1) if coding == "br" else zstandard.compress(whole)
    for data, message in (
        (bomb, "after decompression"),
        (PACKED[coding][:-9], "expected"),
        (b"\x28\xb5\x2f\xfd\xff", "expected"),
    ):
        with pytest.raises(InvalidDocument, match=message):
            decode(data, "file", coding)
