import builtins
import json
import zlib
from pathlib import Path
from typing import Any

import brotli
import pytest
import zstandard

from conformance.documents import BOUNDS
from conformance.errors import InvalidDocument
from conformance.formats import read_path
from conformance.formats.bodies import decode
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
