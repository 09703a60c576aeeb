"""Requests whose schemas ask the simulator for too much: of its time, or of a reply."""

from typing import Any

import pytest

from conformance import profiles
from conformance.simulator import Simulator
from tests.hanging import ends
from tests.sampling import some


@pytest.mark.parametrize(
    "pattern",
    some(["^(a+)+{}$", "((a{{99}}){{99}}){{99}}b{{{}}}", "(((a|b)*)*)*c{{{}}}"], mark=pytest.mark.exhaustive),
)
def test_patterns_of_a_schema_cannot_keep_the_simulator_busy(pattern: str) -> None:
    patterns = {f"p{number}": {"type": "string", "pattern": pattern.format(number)} for number in range(1, 60)}
    schema = {"type": "object", "properties": patterns, "required": [*patterns], "patternProperties": {"^(p+)+!$": {}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": {**schema, "additionalProperties": False}}}
    wanted = {"type": "json_schema", "json_schema": {"name": "f", "schema": schema}}
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
    with ends():
        assert Simulator(profiles.load("openai")).reply({**body, "tools": [tool]}).status < 500
        assert Simulator(profiles.load("openai")).reply({**body, "response_format": wanted}).status < 500


@pytest.mark.parametrize("demand", some(["call", "answer"]))
def test_a_request_for_a_huge_reply_is_refused(demand: str) -> None:
    names = [f"property_{number}" for number in range(1000)]
    schema = {"type": "object", "required": names, "properties": {name: {"type": "string"} for name in names}}
    body: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "n": 128, "stream": True}
    if demand == "answer":
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "huge", "schema": schema}}
    else:
        body["tools"] = [{"type": "function", "function": {"name": "huge", "parameters": schema}}]
    simulator = Simulator(profiles.load("openai"))
    assert 400 == simulator.reply(body).status
    assert 200 == simulator.reply(body | {"n": 1}).status
