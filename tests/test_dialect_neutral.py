"""The neutral model: round trips, valid blocks, signatures for other models, and the cost of replies."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.convert import dialects
from conformance.convert.dialects import neutral
from conformance.documents import read_json
from conformance.documents.pointer import edit
from conformance.errors import InvalidDocument
from conformance.resources import folder
from conformance.schemas import validator
from tests.losses import ARGUMENTS, OBJECTS, TEXT_VALUES, WORDS, goes_and_returns
from tests.sampling import examples

DIALECT = dialects.load("neutral")
TEXT = TEXT_VALUES.map(lambda text: {"type": "TextContent", "text": text})
SIGNED_TEXT = st.fixed_dictionaries(
    {"type": st.just("TextContent"), "text": TEXT_VALUES}, optional={"textSignature": TEXT_VALUES}
)
IMAGE = st.builds(
    lambda data, kind: {"type": "ImageContent", "data": data, "mimeType": kind},
    st.binary(max_size=8).map(lambda data: data.hex()),
    st.sampled_from(["image/png", "image/webp"]),
)
THINKING = st.fixed_dictionaries(
    {"type": st.just("ThinkingContent"), "thinking": WORDS}, optional={"thinkingSignature": TEXT_VALUES}
) | TEXT_VALUES.map(
    lambda signature: {"type": "ThinkingContent", "thinking": "", "thinkingSignature": signature, "redacted": True}
)
CALL = st.fixed_dictionaries(
    {"type": st.just("ToolCall"), "id": WORDS, "name": TEXT_VALUES, "arguments": OBJECTS},
    optional={"thoughtSignature": TEXT_VALUES},
)


@st.composite
def assistant_messages(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an assistant message: thinking anywhere, but no text after a call."""
    blocks = [*draw(st.lists(SIGNED_TEXT, max_size=2)), *draw(st.lists(CALL, max_size=2))]
    for block in draw(st.lists(THINKING, max_size=3)):
        blocks.insert(draw(st.integers(0, len(blocks))), block)
    return {"type": "AssistantMessage", "Content": blocks}


USER = st.lists(TEXT | IMAGE, max_size=3).map(lambda blocks: {"type": "UserMessage", "Content": blocks})
RESULT = st.builds(
    lambda ident, blocks: {"type": "ToolResultMessage", "ToolCallID": ident, "Content": blocks},
    TEXT_VALUES.map(lambda ident: f"unanswered {ident}"),
    st.lists(TEXT, max_size=2),
)
CONTEXTS = st.fixed_dictionaries(
    {"Messages": st.lists(USER | RESULT | assistant_messages(), max_size=4)}, optional={"SystemPrompt": TEXT_VALUES}
)


@settings(max_examples=examples(150))
@given(CONTEXTS)
def test_a_context_that_the_transcript_can_hold_comes_back_equal(native: dict[str, Any]) -> None:
    goes_and_returns(DIALECT, native)


@settings(max_examples=examples(150))
@given(CONTEXTS)
def test_a_context_is_decoded_from_its_json_unchanged(native: dict[str, Any]) -> None:
    assert native == neutral.decode(neutral.encode(native))


SCHEMA = read_json(folder("schemas") / "dialects" / "neutral.json")
assert isinstance(SCHEMA, dict)
CONTEXT: dict[str, Any] = SCHEMA["examples"][0]
BLOCKS: dict[str, dict[str, Any]] = {
    "TextContent": {"type": "TextContent", "text": "x"},
    "ImageContent": {"type": "ImageContent", "data": "eA==", "mimeType": "image/png"},
    "ThinkingContent": {"type": "ThinkingContent", "thinking": "x"},
    "ToolCall": {"type": "ToolCall", "id": "c", "name": "f", "arguments": {}},
}
PLACES = {
    "UserMessage": (0, ("TextContent", "ImageContent")),
    "AssistantMessage": (1, ("TextContent", "ThinkingContent", "ToolCall")),
    "ToolResultMessage": (2, ("TextContent", "ImageContent")),
}


@pytest.mark.parametrize("message", PLACES)
@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_is_valid_only_in_its_messages(message: str, block: str) -> None:
    position, allowed = PLACES[message]
    value = edit(CONTEXT, {f"/Messages/{position}/Content": [BLOCKS[block]]})
    if block in allowed:
        assert neutral.to_canonical(value).value
    else:
        with pytest.raises(InvalidDocument, match=f"at /Messages/{position}/Content/0/type: "):
            neutral.to_canonical(value)


def test_the_example_of_the_schema_is_valid() -> None:
    assert () == validator("dialects/neutral").errors(CONTEXT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"city": "Paris"}', {"city": "Paris"}),
        ('{"city": "Par', {"city": "Par"}),
        ('{"city": "Paris", "un', {"city": "Paris"}),
        ('{"city": "Paris", "unit":', {"city": "Paris"}),
        ('{"cities": ["Paris", {"name": "Ro', {"cities": ["Paris", {"name": "Ro"}]}),
        ('{"text": "a\\', {"text": "a"}),
        ('{"text": "\\u00', {"text": ""}),
        ('{"n": 12, "ok": tr', {"n": 12}),
        ('{"a": [1, ', {"a": [1]}),
        ('{"a": NaN}', {}),
        ("[1]", {}),
        ("", {}),
        ("{" * 5, {}),
        ('{"a": 1e999, "b"', {}),
        ('{"a": 123456789012345678901}', {"a": 123456789012345678901.0}),
        ('{"a": "\\ud83d"}', {"a": "?"}),
        ('{"a":' + "[" * 300, {}),
        ('{"a":' + "[" * 300 + "]" * 300 + "}", {}),
        ('{"a":' * 100_000, {}),
    ],
)
def test_arguments_are_decoded_as_far_as_possible(text: str, expected: dict[str, Any]) -> None:
    assert expected == neutral.decode_arguments(text)


@given(OBJECTS, st.data())
def test_every_prefix_of_arguments_gives_a_value(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    decoded = neutral.decode_arguments(text[: data.draw(st.integers(0, len(text)))])
    assert list(decoded) == list(value)[: len(decoded)]


@given(ARGUMENTS)
def test_any_text_of_arguments_comes_back_unchanged(raw: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": raw}}
    there = neutral.to_native([{"role": "assistant", "content": "", "tool_calls": [call]}])
    assert () == there.lost
    assert [call] == neutral.to_canonical(there.value).value[0]["tool_calls"]


def test_changed_arguments_replace_their_old_text() -> None:
    block = {**BLOCKS["ToolCall"], "arguments": {"a": 2}, "rawArguments": '{ "a": 1 }'}
    found = neutral.to_canonical({"Messages": [{"type": "AssistantMessage", "Content": [block]}]})
    assert '{"a":2}' == found.value[0]["tool_calls"][0]["function"]["arguments"]
    assert ["/Messages/0/Content/0/rawArguments"] == [loss.pointer for loss in found.lost]


def test_texts_and_calls_keep_the_order_of_blocks_and_are_copies() -> None:
    message: dict[str, Any] = {
        "type": "AssistantMessage",
        "Content": [
            BLOCKS["ThinkingContent"],
            {"type": "TextContent", "text": "a"},
            {**BLOCKS["ToolCall"], "id": "1"},
            {"type": "TextContent", "text": "b"},
            {**BLOCKS["ToolCall"], "id": "2"},
        ],
    }
    before = copy.deepcopy(message)
    calls = neutral.tool_calls(message)
    assert calls is not None
    assert "ab" == neutral.text(message)
    assert ["1", "2"] == [call["id"] for call in calls]
    calls[0]["arguments"]["a"] = 1
    assert before == message


@pytest.mark.parametrize("message", [None, {"type": "AssistantMessage", "Content": None}])
def test_a_message_without_blocks_has_no_text_and_no_calls(message: Any) -> None:
    assert "" == neutral.text(message)
    assert neutral.tool_calls(message) is None


SIGNED: dict[str, Any] = {
    "Messages": [
        {
            "type": "AssistantMessage",
            "Model": "example-1",
            "Provider": "example",
            "Content": [
                {"type": "ThinkingContent", "thinking": "x", "thinkingSignature": "a"},
                {"type": "ThinkingContent", "thinking": "", "thinkingSignature": "b", "redacted": True},
                {"type": "TextContent", "text": "x", "textSignature": "c"},
                {**BLOCKS["ToolCall"], "thoughtSignature": "d"},
            ],
        }
    ]
}


def test_signatures_are_sent_to_the_model_that_made_them() -> None:
    assert (SIGNED, ()) == neutral.replayed(SIGNED, "example-1", provider="example")


@pytest.mark.parametrize(("model", "provider"), [("example-2", ""), ("example-1", "another")])
def test_signatures_are_dropped_on_a_switch_of_model(model: str, provider: str) -> None:
    before = copy.deepcopy(SIGNED)
    switched = neutral.replayed(SIGNED, model, provider=provider)
    at = "/Messages/0/Content"
    assert [f"{at}/0/thinkingSignature", f"{at}/1", f"{at}/2/textSignature", f"{at}/3/thoughtSignature"] == [
        loss.pointer for loss in switched.lost
    ]
    assert [BLOCKS["ThinkingContent"], BLOCKS["TextContent"], BLOCKS["ToolCall"]] == (
        switched.value["Messages"][0]["Content"]
    )
    assert before == SIGNED


def test_thinking_with_only_a_signature_is_sent_to_no_other_model() -> None:
    value = edit(SIGNED, {"/Messages/0/Content/0/thinking": ""})
    switched = neutral.replayed(value, "example-2")
    assert [BLOCKS["TextContent"], BLOCKS["ToolCall"]] == switched.value["Messages"][0]["Content"]
    assert "/Messages/0/Content/0" in [loss.pointer for loss in switched.lost]
    assert (value, ()) == neutral.replayed(value, "example-1")


def test_the_schema_of_parameters_is_unchanged() -> None:
    parameters = {"type": "object", "properties": {"z": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}, "x-more": [1.0]}
    tools = [{"Name": "f", "Description": "d", "Parameters": parameters}]
    made = neutral.definitions({"Messages": [], "Tools": tools})
    assert [{"type": "function", "function": {"name": "f", "description": "d", "parameters": parameters}}] == made
    assert (tools, ()) == neutral.tools(made)
    other = neutral.tools([{"type": "function", "function": {"name": "f", "strict": True}}, {"type": "web"}])
    assert ([{"Name": "f"}], ["/0/function/strict", "/1"]) == (other.value, [loss.pointer for loss in other.lost])


@pytest.mark.parametrize(
    ("signal", "expected", "back"),
    [
        ("stop", "stop", "stop"),
        ("length", "length", "length"),
        ("tool_calls", "toolUse", "tool_calls"),
        ("function_call", "toolUse", "tool_calls"),
        ("content_filter", "error", None),
        ("end_turn", "stop", "stop"),
        ("stop_sequence", "stop", "stop"),
        ("pause_turn", "stop", "stop"),
        ("tool_use", "toolUse", "tool_calls"),
        ("max_tokens", "length", "length"),
        ("model_context_window_exceeded", "length", "length"),
        ("refusal", "error", None),
        ("completed", "stop", "stop"),
        ("incomplete", "length", "length"),
        ("max_output_tokens", "length", "length"),
        ("max_messages", "stop", "stop"),
        ("steered", "stop", "stop"),
        ("cancelled", "aborted", None),
        ("failed", "error", None),
        ("STOP", "stop", "stop"),
        ("MAX_TOKENS", "length", "length"),
        ("SAFETY", "error", None),
        ("MALFORMED_FUNCTION_CALL", "error", None),
        ("UNEXPECTED_TOOL_CALL", "error", None),
        ("of-tomorrow", "error", None),
        ("", "error", None),
        (None, "error", None),
    ],
)
def test_every_stop_signal_has_one_neutral_stop_reason(signal: str | None, expected: str, back: str | None) -> None:
    assert expected == neutral.stop_reason(signal)
    assert back == neutral.finish_reason(expected)


def test_tokens_are_counted_by_category_and_multiplied_by_their_rate() -> None:
    counts = {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "total_tokens": 110,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 20},
    }
    rates = {"Input": 2.0, "Output": 4.0, "CacheRead": 0.5, "CacheWrite": 1.0}
    assert {
        "Input": 20,
        "Output": 10,
        "CacheRead": 60,
        "CacheWrite": 20,
        "TotalTokens": 110,
        "Cost": {"Input": 40.0, "Output": 40.0, "CacheRead": 30.0, "CacheWrite": 20.0, "Total": 130.0},
    } == neutral.usage(counts, rates)
    assert 0 == neutral.usage(None)["TotalTokens"]


def test_a_reply_becomes_a_message_with_usage_cost_and_stop_reason() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}
    reply = {
        "id": "chatcmpl-1",
        "model": "example-1-2026",
        "choices": [
            {
                "message": {"role": "assistant", "content": None, "reasoning": "x", "tool_calls": [call], "more": 1},
                "finish_reason": "length",
            },
            {},
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }
    seed = {"Protocol": "chat", "Provider": "example", "Model": "example-1", "Timestamp": 1767225600000}
    made = neutral.assistant_message(reply, seed)
    assert "length" == made.value["StopReason"]
    assert ("chatcmpl-1", "example-1-2026") == (made.value["ResponseID"], made.value["ResponseModel"])
    assert [{}] == [block["arguments"] for block in neutral.tool_calls(made.value) or ()]
    assert ["/choices/1", "/choices/0/message/more", "/choices/0/message/reasoning"] == [
        loss.pointer for loss in made.lost
    ]
    dialects.validate({"Messages": [made.value]}, "neutral")
    with pytest.raises(InvalidDocument, match="at /choices: "):
        neutral.assistant_message({"choices": []}, seed)


def test_zero_values_count_as_absent() -> None:
    native = {
        "SystemPrompt": "",
        "Messages": [
            {"type": "UserMessage", "Content": None},
            {"type": "AssistantMessage", "Content": [], "Usage": {}, "Timestamp": 0, "Diagnostics": None},
            {"type": "ToolResultMessage", "ToolCallID": "", "ToolName": "", "IsError": False, "Content": []},
        ],
        "Tools": None,
    }
    assert [
        {"role": "user", "content": ""},
        {"role": "assistant", "content": ""},
        {"role": "tool", "tool_call_id": "", "content": ""},
    ] == neutral.to_canonical(native).value
    assert () == neutral.to_canonical(native).lost


def signed(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"Messages": [{"type": "AssistantMessage", "Content": [*blocks]}]}


A, B = ({"type": "TextContent", "text": text, "textSignature": text.lower()} for text in "AB")
EMPTY = {**A, "text": ""}


@pytest.mark.parametrize(
    ("blocks", "pointers"),
    [
        ([A, B], []),
        ([BLOCKS["ThinkingContent"], A, BLOCKS["ToolCall"]], []),
        ([EMPTY], []),
        ([EMPTY, B], []),
        ([EMPTY, BLOCKS["TextContent"]], ["/Messages/0/Content/1"]),
        ([BLOCKS["ToolCall"], A], ["/Messages/0/Content/1/textSignature", "/Messages/0/Content/1"]),
    ],
)
def test_signatures_of_texts_survive_or_are_named(blocks: list[dict[str, Any]], pointers: list[str]) -> None:
    converted = dialects.to_canonical("neutral", signed(*blocks))
    assert pointers == [loss.pointer for loss in converted.lost]
    if not pointers:
        assert (signed(*blocks), ()) == dialects.from_canonical("neutral", converted.value)


@pytest.mark.parametrize("name", ["messages", "gemini"])
def test_the_signature_of_a_text_is_no_reasoning_of_another_model(name: str) -> None:
    converted = dialects.convert(signed(A), "neutral", name)
    assert ["/0/reasoning_details/0"] == [loss.pointer for loss in converted.lost]
    assert "textSignature" not in json.dumps(converted.value)


def test_a_message_starts_from_a_model_alone() -> None:
    started = neutral.new_assistant_message("example-1", now=lambda: 1767225600.0)
    expected = {"type": "AssistantMessage", "Content": [], "Model": "example-1", "Timestamp": 1767225600000}
    assert expected == started
    model = {"Model": "example-1", "Provider": "example", "Protocol": "chat"}
    assert {**expected, **model, "Timestamp": 1} == neutral.new_assistant_message(model, 1)
    reply = {"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
    for seed in ("example-1", started, model):
        made = neutral.assistant_message(reply, seed).value
        assert ("example-1", "Hi") == (made["Model"], neutral.text(made))
        dialects.validate({"Messages": [made]}, "neutral")


def test_usage_that_does_not_add_up_is_named() -> None:
    usage = {"Input": 3, "Output": 2, "TotalTokens": 6, "Cost": {"Input": 1.0, "Output": 0.5, "Total": 2.0}}
    native = {"Messages": [{"type": "AssistantMessage", "Content": [], "Usage": usage}]}
    lost = {loss.pointer: loss.reason for loss in dialects.to_canonical("neutral", native).lost}
    assert ["/Messages/0/Usage", "/Messages/0/Usage/TotalTokens", "/Messages/0/Usage/Cost/Total"] == [*lost]
    assert lost["/Messages/0/Usage/TotalTokens"].endswith("expected 5 for all categories, got 6")
    right = edit(native, {"/Messages/0/Usage/TotalTokens": 5, "/Messages/0/Usage/Cost/Total": 1.5})
    assert ["/Messages/0/Usage"] == [loss.pointer for loss in dialects.to_canonical("neutral", right).lost]
