"""Exchanges as rows of Arrow tables, and what `check` finds in them one by one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import pytest

from conformance import Exchange, check
from tests.checking import BASES, FAULTY, STREAM

pa = pytest.importorskip("pyarrow", reason="NOT RUN: pyarrow is not installed, so nothing here was tested")

DAY = "2026-11-01"
NEVER_JSON = '{"model": "gpt-5", "messages": ['
TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
SESSIONS = [each for name, each in BASES.items() if not name.startswith(("messages", "responses", "gemini"))]
"""Sessions of chat completions; mixed with those of other wires they would make no sense."""
RECORDS: list[dict[str, Any]] = [
    *[exchange for session in SESSIONS for exchange in session],
    FAULTY,
    {"request": FAULTY["request"], "response": STREAM, "status": 200},
    {"request": FAULTY["request"], "response": "<html>", "status": 502},
    {"response": BASES["plain"][0]["response"]},
]
BAD: list[dict[str, Any]] = [{"request": NEVER_JSON}, {"request": None, "response": None}]


def text(value: Any) -> Any:
    if isinstance(value, list):
        value = "".join(each if isinstance(each, str) else f"data: {json.dumps(each)}\n\n" for each in value)
    return value if value is None or isinstance(value, str) else json.dumps(value)


def table(records: Sequence[Mapping[str, Any]], kind: str = "string", **more: list[Any]) -> Any:
    columns = {
        name: pa.array([text(each.get(name)) for each in records], pa.string()).cast(getattr(pa, kind)())
        for name in ("request", "response")
    }
    status = pa.array([each.get("status") for each in records], pa.int32())
    headers = pa.array([json.dumps(each["headers"]) if each.get("headers") else None for each in records], pa.string())
    ids = pa.array([f"row {number}" for number in range(len(records))])
    return pa.table({"id": ids, **columns, "status": status, "headers": headers, **more})


def exchange(record: Mapping[str, Any]) -> Exchange:
    request, response = text(record.get("request")), text(record.get("response"))
    return Exchange(request, response, record.get("status"), headers=record.get("headers") or {})


def one_by_one(rows: Sequence[tuple[str, Mapping[str, Any]]], provider: str | None) -> list[tuple[Any, ...]]:
    """Return what `check` finds in the conversations of adjacent rows with the same session."""
    numbered = [(number, session, record) for number, (session, record) in enumerate(rows)]
    found: list[tuple[Any, ...]] = []
    for _, some in groupby(numbered, key=lambda row: row[1] or row[0]):
        group = list(some)
        found += [(number, None, None, None, None) for number, _, record in group if record in BAD]
        good = [(number, exchange(record)) for number, _, record in group if record not in BAD]
        outcomes = check([each for _, each in good], provider, as_of=DAY)
        found += [
            (good[int(finding.at.split("/")[1])][0], outcome.rule, finding.level.value, finding.at, finding.message)
            for outcome in outcomes
            for finding in outcome.findings
        ]
    return sorted(found, key=repr)


def split(whole: Any, sizes: Sequence[int]) -> Iterator[Any]:
    begin = 0
    for size in (*sizes, whole.num_rows):
        yield from whole.slice(begin, size).to_batches() or [whole.schema.empty_table().to_batches()]
        begin += size
