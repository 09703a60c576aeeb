"""Ingress and egress: a reply becomes a canonical message, a transcript becomes the messages of a request."""

import copy
from typing import Any

import pytest

from conformance.convert import egress, ingress

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
def test_reasoning_is_sent_where_the_provider_requires_it(claims: dict[str, Any], expected: list[list[str]]) -> None:
    before = copy.deepcopy(TRANSCRIPT)
    assert expected == fields(egress.prepare(TRANSCRIPT, claims).messages)
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
def test_a_reply_is_read_as_a_canonical_message(reply: dict[str, Any], expected: dict[str, Any]) -> None:
    assert expected == ingress.read(reply)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("reasoning", {"reasoning": "Look."}),
        ("thinking-parts", {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Look."}]}]}),
        ("think-tags", {"content": "<think>\nLook.\n</think>\n\n"}),
        ("thinking_blocks", {"thinking_blocks": [{"type": "thinking", "thinking": "Look."}]}),
    ],
)
def test_reasoning_is_written_as_the_provider_reads_it(field: str, expected: dict[str, Any]) -> None:
    message = egress.prepare(TRANSCRIPT, {"reasoning.request-field": field}).messages[1]
    assert expected == {key: message[key] for key in expected}


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"content": "", "reasoning": "Look."}, "reasoning"),
        ({"content": "<think>\nLook.\n</think>\n\n"}, "think-tags"),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Look."}]}]}, "thinking-parts"),
        (
            {"content": "", "thinking_blocks": [{"type": "thinking", "thinking": "Look.", "signature": "c2ln"}]},
            "thinking_blocks",
        ),
        ({"content": "", "reasoning_details": [{"type": "reasoning.text", "text": "Look."}]}, "reasoning_details"),
    ],
)
def test_the_reasoning_of_a_reply_is_sent_back_in_its_field(message: dict[str, Any], field: str) -> None:
    claims = {"reasoning.response-field": field, "reasoning.request-field": field}
    reply = {"role": "assistant", **message, "tool_calls": [CALL]}
    sent, _ = egress.prepare([ingress.read(reply, claims)], claims).messages
    assert reply == sent


def test_reasoning_of_earlier_turns_is_left_out_if_it_is_rejected_there() -> None:
    claims = {"reasoning.on-earlier-tool-turn": REFUSED}
    later = [*TRANSCRIPT, {"role": "user", "content": "And now?"}]
    assert [["reasoning_content"], []] == fields(egress.prepare(TRANSCRIPT, claims).messages)
    assert [[], []] == fields(egress.prepare(later, claims).messages)


@pytest.mark.parametrize(
    ("refused", "expected"),
    [((), {"content": ""}), (("empty",), {"content": None}), (("empty", "null"), {})],
)
def test_empty_content_is_sent_in_a_form_that_is_not_rejected(
    refused: tuple[str, ...], expected: dict[str, Any]
) -> None:
    message = egress.prepare(TRANSCRIPT, {f"content.{form}-on-tool-turn": REFUSED for form in refused}).messages[1]
    assert expected == {key: value for key, value in message.items() if key == "content"}
