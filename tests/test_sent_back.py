"""The next request carries what a reply said as it came, on every wire, plain and streamed."""

from typing import Any

import pytest

from conformance.core_facts import core_facts
from conformance.profiles import load_profile
from conformance.results import Level, Status, Verdict
from conformance.suite.sent_back import merged
from tests.loops import every
from tests.scripted import chat, conversed, gemini, messages, played, responses, streamed

ARGUMENTS = '{"city":"Paris"}'
CALL: dict[str, Any] = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": ARGUMENTS}}
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Paris"}}
ITEM = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_weather", "arguments": ARGUMENTS}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm"}]}
PART = {"functionCall": {"name": "get_weather", "args": {"city": "Paris"}}}
SIGNED = {**PART, "thoughtSignature": "c2ln"}
MADE: dict[str, Any] = {
    "messages": lambda blocks: messages(blocks, "tool_use"),
    "responses": responses,
    "gemini": gemini,
}


def text(*texts: str) -> dict[str, Any]:
    parts = [{"type": "output_text", "text": each, "annotations": []} for each in texts]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": parts}


TURNS = [
    ("messages", "thinking after the call", [USE, THINKING]),
    ("messages", "thinking between calls", [THINKING, USE, {**THINKING, "thinking": "Then"}]),
    ("messages", "an empty signature", [{**THINKING, "signature": ""}, USE]),
    ("messages", "text after the call", [USE, {"type": "text", "text": "So."}]),
    ("messages", "text before thinking", [{"type": "text", "text": "A"}, THINKING, {"type": "text", "text": "B"}, USE]),
    ("messages", "an empty text", [{"type": "text", "text": ""}, USE]),
    ("messages", "unknown members", [{"type": "text", "text": "A", "citations": None}, {**USE, "caller": {"a": 1}}]),
    ("messages", "an unknown block", [{"type": "mystery", "x": 1}, USE]),
    ("messages", "withheld thinking", [{"type": "redacted_thinking", "data": "abc"}, USE]),
    ("messages", "numbers", [{**USE, "input": {"city": "Paris", "n": 1.0, "z": 2**63 + 1}}]),
    ("gemini", "a call without a signature", [PART]),
    ("gemini", "a signature in the alphabet of URLs", [{**PART, "thoughtSignature": "c2-_"}]),
    ("gemini", "text after the call", [SIGNED, {"text": "So."}]),
    ("gemini", "thinking after the call", [SIGNED, {"text": "Hm", "thought": True}]),
    ("gemini", "two texts", [{"text": "A", "thoughtSignature": "eA=="}, {"text": "B"}, SIGNED]),
    ("gemini", "a call without arguments", [{"functionCall": {"name": "get_weather"}}]),
    ("gemini", "a call with an id", [{"functionCall": {"id": "x", "name": "get_weather", "args": {"city": "Paris"}}}]),
    ("gemini", "an unknown part", [{"executableCode": {"language": "PYTHON", "code": "1"}}, SIGNED]),
    ("gemini", "an unknown member", [{**SIGNED, "partMetadata": {"a": 1}}]),
    ("responses", "reasoning with its blob", [{**REASONING, "encrypted_content": "ZW5j"}, ITEM]),
    ("responses", "reasoning without a blob", [REASONING, ITEM]),
    ("responses", "an empty blob", [{**REASONING, "encrypted_content": ""}, ITEM]),
    ("responses", "reasoning without anything", [{**REASONING, "summary": []}, ITEM]),
    ("responses", "reasoning without an id", [{"type": "reasoning", "summary": [], "encrypted_content": "Z"}, ITEM]),
    ("responses", "reasoning after the call", [ITEM, REASONING]),
    ("responses", "text after the call", [REASONING, ITEM, text("So.")]),
    ("responses", "two texts in a message", [text("A", "B"), ITEM]),
    ("responses", "an empty message", [REASONING, text(""), ITEM]),
    ("responses", "unknown members", [REASONING, {**ITEM, "caller": None, "x": 1}]),
    ("responses", "a phase", [{**text("Let me see."), "phase": "commentary"}, ITEM]),
    ("responses", "spaces in arguments", [{**ITEM, "arguments": '{ "city" : "Paris" }'}]),
]
VARIANTS = ("plain", "stream")


def turn_of(wire: str, request: dict[str, Any]) -> Any:
    """Return what a request has of the model's first turn, in the form of its wire."""
    if wire == "messages":
        return next(each["content"] for each in request["messages"] if each["role"] == "assistant")
    if wire == "gemini":
        return next(each["parts"] for each in request["contents"] if each["role"] == "model")
    return [each for each in request["input"] if each.get("role") != "user" and "output" not in each]


def without_stored(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return items of Responses as a request has them: nothing is stored, so ids of calls and messages name nothing."""
    return [
        {k: v for k, v in item.items() if k != "status" and (k != "id" or item["type"] == "reasoning")}
        for item in items
    ]


def said(wire: str, blocks: list[Any], variant: str) -> Any:
    reply = MADE[wire](blocks)
    return reply if variant == "plain" else streamed(wire, reply)


@every(
    ("wire", "blocks"), [(wire, blocks) for wire, _, blocks in TURNS], [f"{wire}: {name}" for wire, name, _ in TURNS]
)
def test_a_native_turn_goes_back_as_it_came(wire: str, blocks: list[Any]) -> None:
    expected = without_stored(blocks) if wire == "responses" else blocks
    for variant in VARIANTS:
        progress, peer = conversed(wire, [said(wire, blocks, variant)], "one-tool-call", variant)
        assert expected == turn_of(wire, peer.requests[1])
        assert [] == progress.changes


FUNCTION: dict[str, Any] = {"name": "get_weather", "arguments": ARGUMENTS}
CALLS = [
    {key: value for key, value in CALL.items() if key != "id"},
    {**CALL, "id": ""},
    {**CALL, "id": "x" * 80},
    {key: value for key, value in CALL.items() if key != "type"},
    {**CALL, "x": 1},
    {**CALL, "function": {**FUNCTION, "name": " get_weather "}},
    {**CALL, "function": {**FUNCTION, "arguments": {"city": "Paris"}}},
    {**CALL, "function": {**FUNCTION, "arguments": '{ "city":"Paris" }'}},
    {**CALL, "function": {**FUNCTION, "arguments": ""}},
]


@every("call", CALLS)
def test_a_call_of_chat_completions_and_its_id_go_back_as_they_came(call: dict[str, Any]) -> None:
    reply = chat("tool_calls", tool_calls=[call])
    for provider in ("openai", "mistral", "gemini_openai_compat"):
        for body, variant in ((reply, "plain"), (streamed("chat", reply), "stream")):
            _, peer = conversed("chat", [body], "one-tool-call", variant, provider)
            _, turn, result = peer.requests[1]["messages"]
            assert [call] == turn["tool_calls"]
            assert call.get("id", ...) == result.get("tool_call_id", ...)


def test_no_reasoning_is_added_to_a_reply_that_has_none() -> None:
    reply = chat("tool_calls", tool_calls=[CALL])
    _, peer = conversed("chat", [reply], "one-tool-call", "plain", "deepseek")
    assert {"role", "content", "tool_calls"} == peer.requests[-1]["messages"][1].keys()


def test_what_a_reply_has_and_no_request_carries_is_noted() -> None:
    reply = chat("tool_calls", tool_calls=[CALL], reasoning="Hm.", annotations=[{"type": "x"}])
    progress, _ = conversed("chat", [reply], "one-tool-call", "plain", "deepseek")
    assert [
        "the reply's annotations is not sent back under that name",
        "the reply's reasoning is not sent back under that name",
    ] == sorted(progress.changes)


def steps(signature: str) -> list[Any]:
    """Return the replies of Gemini to the interleaved scenario; an empty signature leaves them out."""
    held = {"thoughtSignature": signature} if signature else {}

    def called(name: str, city: str) -> dict[str, Any]:
        return {"functionCall": {"name": name, "args": {"city": city}}, **held}

    thought = {"text": "Hm", "thought": True}
    return [
        gemini([thought, called("get_weather", "Oslo")]),
        gemini([thought, called("get_time", "Oslo")]),
        gemini([thought, {"text": "Oslo has 9 degrees at 14:05."}]),
        gemini([thought, called("get_weather", "Bergen")]),
        gemini([thought, {"text": "Bergen has 11 degrees."}]),
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_missing_signature_is_not_made_up_and_the_core_fact_breaks(variant: str) -> None:
    replies = [reply if variant == "plain" else streamed("gemini", reply) for reply in steps("")]
    case, peer = played("gemini", replies, "interleaved-thinking", variant)
    assert not any("thoughtSignature" in str(request) for request in peer.requests)
    (broken,) = [each for each in case.outcomes if each.status is Status.FAILED and each.level is Level.MUST]
    assert "gemini/signature-on-first-call" == broken.rule
    words = (
        "sent back as it came, the reply breaks this: expected a thoughtSignature beside this functionCall, got none"
    )
    assert words == broken.findings[0].message
    profile = load_profile("gemini").on("gemini")
    omitted = core_facts([case], profile.at(profile.model, ""))[1]
    name = f"interleaved-thinking.{variant}"
    assert (Verdict.BREAKS, (f"{name}: gemini/signature-on-first-call: {words}",)) == (omitted.verdict, omitted.reasons)


def test_a_history_from_elsewhere_has_the_bypass_value_and_the_replies_have_none() -> None:
    replies = [gemini([PART]), gemini([{"text": "It is -4 degrees in Tromso at 08:15."}])]
    _, peer = conversed("gemini", replies, "foreign-history", "plain")
    foreign, own = [each["parts"] for each in peer.requests[1]["contents"] if each["role"] == "model"]
    assert ["skip_thought_signature_validator"] == [part["thoughtSignature"] for part in foreign]
    assert [PART] == own


MERGED = [
    ([{"type": "a", "x": 1}, {"type": "b"}], [{"type": "a"}, {"type": "b"}], [{"type": "b"}], [{"type": "b"}]),
    ([{"type": "a", "x": 1}], [{"type": "a"}], [{"type": "a", "y": 2}], [{"type": "a", "x": 1, "y": 2}]),
    ([{"type": "a", "x": 1}], [{"type": "a", "y": 1}], [{"type": "a"}], [{"type": "a", "x": 1}]),
    ([1, 2], [1, 2], [2, 1], [2, 1]),
    ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}),
    (
        [{"type": "r", "k": 1}, {"type": "m"}, {"type": "c", "call_id": "1", "k": 2}],
        [{"type": "r", "k": 1}, {"type": "c", "call_id": "1", "k": 2}],
        [{"type": "c", "call_id": "1", "k": 2}],
        [{"type": "c", "call_id": "1", "k": 2}],
    ),
]


@every(("own", "before", "after", "expected"), MERGED)
def test_a_deviation_changes_nothing_else_of_a_reply(own: Any, before: Any, after: Any, expected: Any) -> None:
    assert expected == merged(own, before, after)
