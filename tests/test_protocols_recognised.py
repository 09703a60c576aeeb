"""Which wire an exchange is on, by its URL or its bodies."""

import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from conformance import Exchange, Session, check, profiles, wires
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
    found = wires.of(exchange({key: record[key] for key in kept}, "test"))
    assert found is not None
    assert wire == found.name


PLAIN: dict[str, Any] = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello."}]}
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "stop_reason": None,
}
STARTED = 'event: message_start\ndata: {"type": "message_start", "message": {}}\n\n'


@pytest.mark.parametrize(
    ("response", "wire"),
    [
        (MESSAGE, "messages"),
        (STARTED, "messages"),
        ({"id": "c", "object": "chat.completion", "choices": []}, "chat"),
        ('data: {"id": "c", "choices": []}\n\n', "chat"),
        ({"type": "error", "error": {"type": "not_found_error", "message": "No model m."}}, "chat"),
        (None, "chat"),
    ],
)
def test_the_reply_says_on_which_wire_a_request_was_that_fits_several(response: Any, wire: str) -> None:
    assert wire == wires.of(Exchange(PLAIN, response)).name


@pytest.mark.parametrize(
    "mark",
    [
        {"messages": [{"role": "tool", "tool_call_id": "call_1", "content": "12:00"}]},
        {"messages": [{"role": "assistant", "content": None, "tool_calls": []}]},
    ],
)
def test_a_request_of_chat_completions_stays_one_whatever_the_reply(mark: dict[str, Any]) -> None:
    assert not wires.is_native(Exchange(PLAIN | mark, MESSAGE))


def test_tools_of_messages_show_the_wire_of_a_request() -> None:
    tool = {"name": "get_time", "input_schema": {"type": "object"}}
    found = wires.of(Exchange(PLAIN | {"tools": [tool]}))
    assert found.name == "messages"


@pytest.mark.parametrize("wire", ["messages", "responses"])
def test_recorded_exchanges_are_recognised_without_their_url(wire: str, shared: Path) -> None:
    with gzip.open(shared / "recordings" / f"{wire}.jsonl.gz", "rt", encoding="utf-8") as lines:
        recorded = [Exchange(each["request"], each["response"], each["status"]) for each in map(orjson.loads, lines)]
    answered = [each for each in recorded if each.request and each.response and each.status == 200]
    others = [each for each in answered if wires.of(each).name != wire]
    assert len(answered) > 500
    assert not others


@pytest.mark.parametrize("name", ["thinking-session", "details-session", "tool-result", "stream-plain", "error"])
def test_chat_completions_need_no_protocol(name: str) -> None:
    each = records(name)
    assert {"chat"} == {wires.of(exchange(record, "test")).name for record in each}


@pytest.mark.parametrize("odd", [None, 5, [], {}, [{"type": []}], [{"type": {}}], [None]])
@pytest.mark.parametrize("key", ["role", "content"])
def test_odd_messages_belong_to_no_other_wire(key: str, odd: Any) -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "Hello.", key: odd}]}
    assert not wires.is_native(Exchange(request=request))


PRESUMED = {
    "anthropic": "messages",
    "gemini": "gemini",
    "open_responses": "responses",
    "vertex": "chat",
    "openai": "chat",
}


def test_a_body_that_does_not_show_its_wire_is_on_the_only_one_of_its_provider() -> None:
    message = {"role": "user", "content": "Hi", "name": "ada"}
    asked = Exchange.of_plain({"model": "m", "max_tokens": 5, "messages": [message]})
    replied = replace(asked, response={"object": "chat.completion", "choices": []})
    for name, wire in PRESUMED.items():
        presumed = profiles.load(name).presumed_wire
        assert wire == wires.translate((asked,), presumed)[0].protocol, name
        assert "chat" == wires.translate((replied,), presumed)[0].protocol, name
    for judged in (check(asked, "anthropic"), Session("anthropic").add(asked)):
        (found,) = [each for outcome in judged if outcome.rule == "native/request-shape" for each in outcome.findings]
        assert "/0/request/messages/0/name" == found.at
        assert found.refusal is not None
        assert "messages.0.name: Extra inputs are not permitted" == found.refusal.message
