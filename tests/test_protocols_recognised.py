"""Which wire an exchange is on, by its URL or its bodies."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from conformance import Exchange, protocols
from conformance.formats.records import exchange
from conformance.resources import folder

PARTS = (("url", "request", "response"), ("request", "response"), ("request",), ("response",))


def records(name: str) -> list[Any]:
    value: list[Any] = json.loads((folder("fixtures") / "wire" / f"{name}.json").read_text("utf-8"))
    return value


@pytest.mark.parametrize("kept", PARTS, ids="-".join)
@pytest.mark.parametrize("wire", ["gemini", "messages"])
def test_an_exchange_is_recognised_by_its_url_or_its_bodies(wire: str, kept: Sequence[str]) -> None:
    record = records(f"{wire}-session")[1]
    found = protocols.of(exchange({key: record[key] for key in kept}, "test"))
    assert found is not None
    assert wire == found.name


@pytest.mark.parametrize("name", ["thinking-session", "details-session", "tool-result", "stream-plain", "error"])
def test_chat_completions_need_no_protocol(name: str) -> None:
    each = records(name)
    assert [None] * len(each) == [protocols.of(exchange(record, "test")) for record in each]


@pytest.mark.parametrize("odd", [None, 5, [], {}, [{"type": []}], [{"type": {}}], [None]])
@pytest.mark.parametrize("key", ["role", "content"])
def test_odd_messages_belong_to_no_other_wire(key: str, odd: Any) -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "Hello.", key: odd}]}
    assert protocols.of(Exchange(request=request)) is None
