"""The way in and the way out: a reply becomes a canonical message, a transcript becomes a request's messages."""

import copy
from typing import Any

import pytest

from conformance import egress, ingress

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
REFUSED = {"status": 400, "message": "no"}
TRANSCRIPT: list[dict[str, Any]] = [
    {"role": "user", "content": "Weather?"},
    {"role": "assistant", "content": "", "reasoning_content": "Look.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "18"},
    {"role": "assistant", "content": "18.", "reasoning_content": "Say it."},
]


def fields(messages: list[dict[str, Any]]) -> list[list[str]]:
    return [[key for key in message if "reasoning" in key] for message in messages if message["role"] == "assistant"]


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({}, [["reasoning_content"], []]),
        ({"reasoning.request-field": "reasoning"}, [["reasoning"], []]),
        ({"reasoning.request-field": ["reasoning", "reasoning_content"]}, [["reasoning"], []]),
        ({"reasoning.request-field": "none"}, [[], []]),
        ({"reasoning.input.reasoning_content": REFUSED}, [[], []]),
        ({"reasoning.omitted-on-plain-turn": REFUSED}, [["reasoning_content"], ["reasoning_content"]]),
    ],
)
def test_reasoning_goes_where_the_provider_wants_it(claims: dict[str, Any], expected: list[list[str]]) -> None:
    before = copy.deepcopy(TRANSCRIPT)
    assert expected == fields(egress.prepare(TRANSCRIPT, claims))
    assert before == TRANSCRIPT


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"role": "assistant", "content": None}, {"role": "assistant", "content": ""}),
        ({"content": "a", "reasoning": "r"}, {"role": "assistant", "content": "a", "reasoning_content": "r"}),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "r"}]},
                    {"type": "text", "text": "a"},
                ]
            },
            {"role": "assistant", "content": "a", "reasoning_content": "r"},
        ),
        (
            {"content": "", "tool_calls": [{**CALL, "index": 0}]},
            {"role": "assistant", "content": "", "tool_calls": [CALL]},
        ),
    ],
)
def test_a_reply_is_read_into_the_canonical_shape(reply: dict[str, Any], expected: dict[str, Any]) -> None:
    assert expected == ingress.read(reply)
