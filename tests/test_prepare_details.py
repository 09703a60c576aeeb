"""`prepare` without a provider: `reasoning_details` of tool turns come out as they went in."""

import copy
from typing import Any

import pytest

from conformance import Exchange, check, prepare
from conformance.convert import egress

REFUSED = {"status": 400, "message": "no"}
QUESTION = {"role": "user", "content": "Weather?"}
TEXT = {"type": "reasoning.text", "text": "Look.", "signature": "c2ln", "format": "anthropic-claude-v1", "index": 0}
SEALED = {"type": "reasoning.encrypted", "data": "b3A=", "id": "rs_1", "format": "openai-responses-v1", "index": 1}
SUMMARY = {"type": "reasoning.summary", "summary": "Looked.", "format": "openai-responses-v1", "index": 0}
DETAILS = [SUMMARY, SEALED]

GIVEN: dict[str, dict[str, Any]] = {
    "three formats": {"reasoning_details": [TEXT, SEALED, SUMMARY | {"format": "google-gemini-v1", "index": 2}]},
    "no index": {"reasoning_details": [{"type": "reasoning.text", "text": "Look."}, {"type": "reasoning.text"}]},
    "an index twice": {"reasoning_details": [SUMMARY, SEALED | {"index": 0}, SUMMARY]},
    "indexes that fall": {"reasoning_details": [SEALED | {"index": 2}, TEXT | {"index": 1}, SUMMARY]},
    "encrypted before text": {"reasoning_details": [SEALED, TEXT]},
    "the same text beside them": {"reasoning_content": "Look.", "reasoning_details": [TEXT, SEALED]},
    "another text beside them": {"reasoning_content": "I look at the sky.", "reasoning_details": [SUMMARY, SEALED]},
    "an unknown type": {"reasoning_details": [{"type": "reasoning.of-tomorrow", "whatever": [1]}, TEXT]},
    "unknown keys and nulls": {"reasoning_details": [TEXT | {"id": None, "signature": None, "extra": {"a": []}}]},
    "an empty list": {"reasoning_details": []},
    "an empty list beside text": {"reasoning_content": "Look.", "reasoning_details": []},
}  # fmt: skip


def turn(call: str = "call_1", **reasoning: Any) -> list[dict[str, Any]]:
    """Return a tool turn with its result."""
    calls = [{"id": call, "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    return [
        {"role": "assistant", "content": "", **reasoning, "tool_calls": calls},
        {"role": "tool", "tool_call_id": call, "content": "18"},
    ]


@pytest.mark.parametrize("reasoning", GIVEN.values(), ids=GIVEN)
def test_details_of_a_tool_turn_are_verbatim_and_in_order(reasoning: dict[str, Any]) -> None:
    transcript = [QUESTION, *turn(**reasoning)]
    before = copy.deepcopy(transcript)
    prepared = prepare(transcript)
    assert before == prepared.messages
    assert [[*each] for each in reasoning.get("reasoning_details", ())] == [
        [*each] for each in prepared.messages[1]["reasoning_details"]
    ]
    assert () == prepared.notes
    assert before == transcript
    assert prepared.messages[1]["reasoning_details"] is not transcript[1]["reasoning_details"]


def test_details_of_two_turns_stay_with_their_turns() -> None:
    first, second = turn("call_1", reasoning_details=[TEXT]), turn("call_2", reasoning_details=[SEALED, SUMMARY])
    transcript = [QUESTION, *first, *second, {"role": "assistant", "content": "18."}, QUESTION]
    assert transcript == prepare(transcript).messages


def test_details_of_a_plain_turn_are_left_out_and_noted() -> None:
    plain = {"role": "assistant", "content": "18.", "reasoning_details": [TEXT]}
    prepared = prepare([QUESTION, plain, QUESTION])
    assert [QUESTION, {"role": "assistant", "content": "18."}, QUESTION] == prepared.messages
    (note,) = prepared.notes
    assert "/1/reasoning_details: left out: reasoning is only sent with tool calls" == str(note)


def test_text_of_another_name_moves_to_the_canonical_field_beside_details() -> None:
    prepared = prepare([QUESTION, *turn(reasoning="Look.", reasoning_details=[TEXT])])
    sent = prepared.messages[1]
    assert ("Look.", [TEXT], False) == (sent["reasoning_content"], sent["reasoning_details"], "reasoning" in sent)
    assert ["/1/reasoning: sent as reasoning_content (reasoning.request-field)"] == [
        str(each) for each in prepared.notes
    ]


@pytest.mark.parametrize("reasoning", GIVEN.values(), ids=GIVEN)
def test_what_is_prepared_for_no_provider_has_no_findings(reasoning: dict[str, Any]) -> None:
    body = {"model": "m", "messages": prepare([QUESTION, *turn(**reasoning)]).messages}
    body["tools"] = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    assert [] == [found.message for outcome in check(Exchange(body)) for found in outcome.findings]


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"reasoning.omitted-on-tool-turn": REFUSED}, {"reasoning_details": DETAILS, "reasoning_content": "A."}),
        ({"reasoning.input.reasoning_content": REFUSED}, {"reasoning_details": DETAILS}),
        ({"reasoning.input.reasoning_details": REFUSED}, {"reasoning_content": "A."}),
        ({"reasoning.request-field": "unknown"}, {"reasoning_content": "A."}),
        ({"reasoning.request-field": "none"}, {}),
    ],
)  # fmt: skip
def test_claims_about_the_fields_are_heeded(claims: dict[str, Any], expected: dict[str, Any]) -> None:
    source = turn(reasoning_content="A.", reasoning_details=DETAILS)
    sent = egress.prepare([QUESTION, *source], claims).messages[1]
    assert expected == {key: value for key, value in sent.items() if key.startswith("reasoning")}
