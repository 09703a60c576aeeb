"""Flows of mitmproxy: read by its own reader, and refused with the way out where that is not installed."""

import builtins
import gzip
import random
import re
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import InvalidDocument
from conformance.files import Checker, Task
from conformance.formats import Input, read, read_path
from conformance.resources import folder
from conformance.results import Level

FILE = folder("fixtures") / "formats" / "mitmproxy.flow"


def test_a_missing_reader_is_named_with_its_extra_and_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **more: Any) -> Any:
        if name.startswith("mitmproxy"):
            raise ImportError
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    expected = (
        "pip install 'wire-conformance[mitmproxy]', or export a HAR file with mitmproxy itself: mitmdump -nr 'a b'"
    )
    for data in (FILE.read_bytes(), gzip.compress(FILE.read_bytes())):
        with pytest.raises(InvalidDocument, match=re.escape(expected)):
            list(read(data, "a b"))


@pytest.fixture
def reader() -> None:
    pytest.importorskip("mitmproxy", reason="NOT RUN: mitmproxy is not installed")


@pytest.mark.usefixtures("reader")
def test_flows_are_one_conversation_as_they_were_sent() -> None:
    (found,) = read_path(FILE)
    assert ("mitmproxy", [0, 1, 2]) == (found.kind, list(found.numbers))
    assert ("skipped, not chat completions: GET http://127.0.0.1:18462/v1/models",) == found.notes
    assert [(200, False), (200, True), (400, False)] == [(each.status, each.streamed) for each in found.conversation]
    assert {"http://127.0.0.1:18462/v1/chat/completions"} == {each.url for each in found.conversation}
    assert {"2026-11-22"} == {each.date for each in found.conversation}
    report = Checker(Task(level=Level.MUST)).input(found).report
    assert ["transcript/result-answers-call"] == [each["rule"] for each in report["outcomes"]]


def damaged(data: bytes) -> list[Input]:
    try:
        return list(read(data, "file"))
    except InvalidDocument:
        return []


@pytest.mark.usefixtures("reader")
def test_a_cut_file_says_how_far_it_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.flow"
    path.write_bytes(FILE.read_bytes()[:-9])
    with pytest.raises(InvalidDocument, match="cannot be read by mitmproxy beyond flow 3"):
        list(read_path(path))


@pytest.mark.usefixtures("reader")
def test_any_damage_is_an_invalid_document() -> None:
    data, chosen = FILE.read_bytes(), random.Random(7)  # noqa: S311 — no secret depends on it
    for _ in range(300):
        at = chosen.randrange(40, len(data))
        changed = data[:at] + bytes([chosen.randrange(256)]) + data[at + chosen.randrange(3) :]
        assert all(found.kind == "mitmproxy" for found in damaged(changed))
