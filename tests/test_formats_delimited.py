"""Tables of comma-separated values: a row is an exchange, whatever its columns are called."""

import csv
import io
import json
from typing import Any

import pytest

from conformance.errors import InvalidDocument
from conformance.formats import Input, read
from tests.loops import every
from tests.wires import REPLY, REQUEST

ERROR = {"error": {"message": "Slow down.", "type": "rate_limit_error"}}


def _table(rows: list[dict[str, Any]], separator: str = ",") -> bytes:
    made = io.StringIO(newline="")
    writer = csv.DictWriter(made, list(rows[0]), delimiter=separator)
    writer.writeheader()
    writer.writerows(
        [
            {key: json.dumps(each) if isinstance(each, dict | list) else each for key, each in row.items()}
            for row in rows
        ]
    )
    return made.getvalue().encode()


def _found(data: bytes, name: str = "rows.csv") -> list[Input]:
    return list(read(data, name))


@every("separator", [",", "\t", ";"])
def test_a_row_is_an_exchange(separator: str) -> None:
    rows = [{"id": 1, "request": REQUEST, "response": REPLY, "status": 200}]
    (given,) = _found(_table(rows, separator))
    (exchange,) = given.conversation
    assert (2, REQUEST, REPLY, 200) == (given.line, exchange.request, exchange.response, exchange.status)


def test_columns_of_any_name_hold_bodies() -> None:
    (given,) = _found(_table([{"req_body": REQUEST, "resp_body": ERROR, "status_code": 429}]))
    (exchange,) = given.conversation
    assert ("inside", REQUEST, ERROR, 429) == (given.kind, exchange.request, exchange.response, exchange.status)


def test_rows_of_one_session_are_one_conversation_and_know_their_lines() -> None:
    asked = json.loads(json.dumps(REQUEST))
    asked["messages"][0]["content"] = "two\nlines"
    text = _table([{"session": "a", "request": json.dumps(asked, indent=1)}, {"session": "a", "request": REQUEST}])
    (given,) = _found(text)
    assert 2 == len(given.conversation)
    assert (2, text[: text.rindex(b"a,")].count(b"\n") + 1) == given.lines


def test_a_cell_may_be_longer_than_the_reader_of_python_takes() -> None:
    long = {**REQUEST, "messages": [{"role": "user", "content": "x" * 200_000}]}
    before = csv.field_size_limit()
    (given,) = _found(_table([{"request": long}]))
    assert (long, before) == (given.conversation[0].request, csv.field_size_limit())


@pytest.mark.parametrize("data", [b"name,age\nann,3\n", b"request,response\n,\n"])
def test_rows_without_bodies_are_problems(data: bytes) -> None:
    assert [True] == [each.problem is not None for each in _found(data)]


@pytest.mark.parametrize("data", [b'request\n"{""a"": 1\n', b"request,response\n"])
def test_a_table_that_is_cut_or_empty_is_an_error(data: bytes) -> None:
    with pytest.raises(InvalidDocument, match=r"rows\.csv"):
        _found(data)
