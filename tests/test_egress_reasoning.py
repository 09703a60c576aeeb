"""Egress of reasoning: placeholders, blocks and text, and signatures."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.convert import egress
from conformance.wire.reasoning import reasoning_text

REFUSED = {"status": 400, "message": "no"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "18"}
SIGNED = [{"type": "reasoning.text", "text": "Look.", "signature": "c2ln"}]
SEALED = [{"type": "reasoning.encrypted", "data": "b3A="}]
COPILOT = {"reasoning_text": "Look.", "reasoning_opaque": "b3A="}
BOTH = ["reasoning_details", "reasoning"]
Message = dict[str, Any]

TEXT_READ = {"reasoning.request-field": "reasoning_content"}
DEMANDED = {"reasoning.omitted-on-tool-turn": REFUSED}


def turn(**reasoning: Any) -> Message:
    return {"role": "assistant", "content": "", **reasoning, "tool_calls": [CALL]}


def sent(reasoning: Message, claims: dict[str, Any]) -> Message:
    """Return the other keys that are sent with the calls of a turn with this reasoning."""
    message = egress.prepare([turn(**reasoning), RESULT], claims).messages[0]
    return {key: value for key, value in message.items() if key not in ("role", "tool_calls") and value != ""} | {
        key: value for key, value in message.items() if "reasoning" in key
    }


@pytest.mark.parametrize(
    ("reasoning", "claims", "expected"),
    [
        ({}, {}, {}),
        ({}, DEMANDED, {"reasoning_content": ""}),
        ({}, DEMANDED | {"thinking.mode": "never"}, {}),
        ({}, DEMANDED | {"reasoning.request-field": "reasoning"}, {"reasoning": ""}),
        ({}, DEMANDED | {"reasoning.request-field": BOTH}, {"reasoning": ""}),
        ({}, DEMANDED | {"reasoning.request-field": "reasoning_details"}, {"reasoning_details": []}),
        ({}, {"reasoning.omitted-on-earlier-tool-turn": "damaged"}, {"reasoning_content": ""}),
        ({}, DEMANDED | {"reasoning.empty-on-tool-turn": REFUSED}, {"reasoning_content": " "}),
        ({"reasoning_content": ""}, {"reasoning.empty-on-tool-turn": REFUSED}, {"reasoning_content": " "}),
        ({"reasoning_content": ""}, {}, {"reasoning_content": ""}),
        ({"reasoning_content": None}, {}, {}),
        ({"reasoning_content": "Look."}, DEMANDED, {"reasoning_content": "Look."}),
    ],
)
def test_empty_reasoning_is_added_if_the_field_is_required(
    reasoning: Message, claims: dict[str, Any], expected: Message
) -> None:
    assert expected == sent(reasoning, claims)


@pytest.mark.parametrize(
    ("reasoning", "fields", "expected"),
    [
        ({"reasoning": "Look."}, "reasoning_content", {"reasoning_content": "Look."}),
        ({"reasoning_details": SIGNED}, "reasoning_content", {"reasoning_content": "Look."}),
        ({"reasoning_details": SIGNED, "reasoning_content": "Look."}, BOTH, {"reasoning_details": SIGNED}),
        ({"reasoning_details": SEALED}, "reasoning_content", {}),
        ({"reasoning_details": SEALED, "reasoning_content": "Look."}, BOTH, {"reasoning_details": SEALED}),
        ({"reasoning_details": [], "reasoning_content": "a"}, BOTH, {"reasoning_details": [], "reasoning": "a"}),
        ({"reasoning_content": "Look."}, BOTH, {"reasoning": "Look."}),
        (
            {"reasoning_content": "Look."},
            "reasoning_details",
            {"reasoning_details": [{"type": "reasoning.text", "text": "Look."}]},
        ),
        (
            {"reasoning_details": [*SIGNED, *SEALED]},
            ["thinking_blocks", "reasoning_content"],
            {
                "thinking_blocks": [
                    {"type": "thinking", "thinking": "Look.", "signature": "c2ln"},
                    {"type": "redacted_thinking", "data": "b3A="},
                ]
            },
        ),
        ({"reasoning_content": "Look."}, ["thinking_blocks", "reasoning_content"], {"reasoning_content": "Look."}),
        ({"reasoning_content": "Look."}, "none", {}),
        ({"reasoning_content": "Look."}, ["reasoning_text", "reasoning_opaque"], {"reasoning_text": "Look."}),
        (COPILOT, ["reasoning_text", "reasoning_opaque"], COPILOT),
        (COPILOT, "reasoning_content", {"reasoning_content": "Look."}),
    ],
)
def test_blocks_are_sent_as_blocks_and_text_as_text_if_both_are_read(
    reasoning: Message, fields: Any, expected: Message
) -> None:
    assert expected == sent(reasoning, {"reasoning.request-field": fields})


def test_a_signature_is_left_out_for_a_provider_that_cannot_read_it() -> None:
    notes = {note.pointer: note.reason for note in egress.prepare([turn(**COPILOT), RESULT], {}).notes}
    assert "sent as reasoning_content" == notes["/0/reasoning_text"]
    assert "left out: only the provider that sent it reads it" == notes["/0/reasoning_opaque"]


def test_thinking_parts_are_sent_back_unchanged_if_they_are_read_and_as_text_otherwise() -> None:
    steps = [{"type": "text", "text": "Lo"}, {"type": "text", "text": "ok."}]
    content = [{"type": "thinking", "thinking": steps}, {"type": "text", "text": "Hm."}]
    assert {"content": content} == sent({"content": content}, {"reasoning.request-field": "thinking-parts"})
    assert {"content": "Hm.", "reasoning_content": "Look."} == sent({"content": content}, {})


def test_reasoning_of_plain_turns_is_left_out_and_noted() -> None:
    plain = {"role": "assistant", "content": "18.", "reasoning_content": "Say it."}
    prepared = egress.prepare([plain], {})
    assert [{"role": "assistant", "content": "18."}] == prepared.messages
    assert ["/0/reasoning_content"] == [note.pointer for note in prepared.notes]


@pytest.mark.parametrize(
    ("reasoning", "claims", "pointer", "claim"),
    [
        ({"reasoning": "a"}, {}, "/0/reasoning", "reasoning.request-field"),
        ({"reasoning_content": "a"}, {"reasoning.request-field": "none"}, "/0/reasoning_content", None),
        ({"reasoning_content": "a"}, {"reasoning.input.reasoning_content": REFUSED}, "/0/reasoning_content", None),
        ({"reasoning_details": SEALED}, TEXT_READ, "/0/reasoning_details", "reasoning.request-field"),
        ({}, DEMANDED, "/0", "reasoning.omitted-on-tool-turn"),
        ({"reasoning_content": ""}, {"reasoning.empty-on-tool-turn": REFUSED}, "/0/reasoning_content", None),
    ],
)
def test_every_change_of_reasoning_is_noted(
    reasoning: Message, claims: dict[str, Any], pointer: str, claim: Any
) -> None:
    (note,) = egress.prepare([turn(**reasoning), RESULT], claims).notes
    assert (pointer, claim or next(iter(claims))) == (note.pointer, note.claim)


SIGNATURES = {
    "signature.omitted": REFUSED,
    "signature.bypass": "skip",
    "signature.field": "tool_calls/*/extra_content/google/thought_signature",
    "signature.on": "first-call",
}
BYPASS = {"google": {"thought_signature": "skip"}}
OWN = {"google": {"thought_signature": "c2ln"}}


@pytest.mark.parametrize(
    ("claims", "own", "expected"),
    [
        (SIGNATURES, [None, None], [BYPASS, None]),
        (SIGNATURES, [OWN, None], [OWN, None]),
        (SIGNATURES | {"signature.on": "item"}, [OWN, None], [OWN, BYPASS]),
        (SIGNATURES | {"signature.omitted": "accepted"}, [None, None], [None, None]),
        (SIGNATURES | {"signature.bypass": "unknown"}, [None, None], [None, None]),
        ({}, [OWN, None], [OWN, None]),
        ({"request.unknown-call-field": REFUSED}, [OWN, None], [None, None]),
    ],
)
def test_calls_have_signatures_if_the_provider_reads_them(
    claims: dict[str, Any], own: list[Any], expected: list[Any]
) -> None:
    calls = [CALL | ({"extra_content": each} if each else {}) | {"id": f"c{at}"} for at, each in enumerate(own)]
    prepared = egress.prepare([{**turn(), "tool_calls": calls}], claims)
    assert expected == [call.get("extra_content") for call in prepared.messages[0]["tool_calls"]]
    noted = [note for note in prepared.notes if note.pointer.endswith("extra_content")]
    assert (own != expected) is bool(noted)


def test_a_signature_of_gemini_among_the_details_goes_back_beside_its_call() -> None:
    detail = {"type": "reasoning.encrypted", "data": "c2ln", "id": "c0", "format": "google-gemini-v1"}
    calls = [CALL | {"id": "c0"}]
    prepared = egress.prepare([{**turn(), "tool_calls": calls, "reasoning_details": [detail]}], SIGNATURES)
    (call,) = prepared.messages[0]["tool_calls"]
    assert OWN == call["extra_content"]
    assert "reasoning_details" not in prepared.messages[0]
    assert [("/0/tool_calls/0/extra_content", "signature.field")] == [
        (note.pointer, note.claim) for note in prepared.notes if "extra_content" in note.pointer
    ]


FATES = st.fixed_dictionaries(
    {},
    optional={
        "reasoning_content": st.sampled_from(["", "Alpha.", "Beta."]),
        "reasoning": st.sampled_from(["", "Alpha.", "Beta."]),
        "reasoning_details": st.lists(
            st.sampled_from([
                {"type": "reasoning.text", "text": "Alpha."},
                {"type": "reasoning.text", "text": "Beta.", "signature": "c2ln"},
                {"type": "reasoning.encrypted", "data": "b3A="},
                {"type": "reasoning.text_signature", "data": "c2ln"},
            ]),
            max_size=2,
        ),
    },
)  # fmt: skip
READ_FIELDS = st.sampled_from(["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "think-tags"])


@given(FATES, READ_FIELDS)
def test_what_a_note_calls_sent_is_in_the_message(reasoning: Message, field: str) -> None:
    source = turn(**reasoning)
    prepared = egress.prepare([source, RESULT], {"reasoning.request-field": field})
    sent = json.dumps(prepared.messages[0])
    for note in prepared.notes:
        value = source.get(note.pointer.removeprefix("/0/"))
        items: list[Any] = value if isinstance(value, list) else [{"text": value}]
        texts = [item["text"] for item in items if item.get("text")]
        opaque = [item[key] for item in items for key in ("signature", "data") if key in item]
        if note.reason.startswith("sent as "):
            assert [] == [text for text in [*texts, *opaque] if text not in sent]
        if note.reason.startswith("its text is sent as "):
            assert texts
            assert opaque
            assert [] == [text for text in texts if text not in sent]
        if note.reason.startswith("left out: another"):
            assert reasoning_text(source, note.pointer.removeprefix("/0/"))


@pytest.mark.parametrize(
    ("reasoning", "pointer", "reason"),
    [
        ({"reasoning_content": "a", "reasoning": "b"}, "/0/reasoning", "left out: another reasoning is sent in"),
        ({"reasoning_content": "a", "reasoning": "a"}, "/0/reasoning", "sent as reasoning_content"),
        ({"reasoning_content": "a", "reasoning": ""}, "/0/reasoning", "left out: empty"),
        ({"reasoning_content": "a", "reasoning_details": SEALED}, "/0/reasoning_details", "left out: "),
    ],
)
def test_the_note_says_what_became_of_reasoning(reasoning: Message, pointer: str, reason: str) -> None:
    (note,) = egress.prepare([turn(**reasoning), RESULT], TEXT_READ).notes
    assert pointer == note.pointer
    assert note.reason.startswith(reason)
