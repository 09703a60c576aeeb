import json
from typing import Any

import pytest

from conformance.errors import Unrecognized
from conformance.formats import read
from tests.wires import REPLY, REQUEST


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("a request body is inside: jq -c .data.body 'my file'", {"data": {"body": REQUEST}}),
        ("""a reply body is inside: jq -c '.rows[]["x-y"]' 'my file'""", {"rows": [{"x-y": REPLY}]}),
        ("a list of messages is inside: jq -c .chat 'my file'", {"chat": REQUEST["messages"]}),
        ("a request of OpenAI's Responses API", {"model": "m", "input": "Hello"}),
        ("export spans or log records with messages instead", {"resourceMetrics": []}),
    ],
)
def test_an_unrecognized_value_says_what_is_nearest(expected: str, value: Any) -> None:
    with pytest.raises(Unrecognized) as caught:
        list(read(json.dumps(value).encode(), "my file"))
    assert expected in caught.value.message


@pytest.mark.parametrize(
    ("expected", "data"),
    [
        ("it looks like CSV", b'"id","model","request_body"\n1,2,3\n'),
    ],
)
def test_an_unrecognized_file_says_how_to_export_it(expected: str, data: bytes) -> None:
    with pytest.raises(Unrecognized) as caught:
        list(read(data, "my file"))
    assert expected in caught.value.message


def test_the_search_for_a_hint_is_bounded() -> None:
    value: Any = REQUEST
    for _ in range(100):
        value = {"a": value}
    with pytest.raises(Unrecognized):
        list(read(json.dumps(value).encode(), "file"))
