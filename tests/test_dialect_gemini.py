"""Gemini's contents: generated and recorded traffic comes back, and streams are assembled."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.convert import dialects
from conformance.convert.dialects import CANONICAL
from conformance.documents.pointer import REMOVE, edit, resolve
from conformance.errors import InvalidDocument
from conformance.schemas import validator
from conformance.wires.gemini.reading import assembled
from tests.losses import COMPACT, JSON, OBJECTS, TEXT_VALUES, WORDS, goes_and_returns, marked, missing
from tests.sampling import examples

DIALECT = dialects.load("gemini")
to_canonical, to_native = DIALECT.to_canonical, DIALECT.to_native
NOTHING: st.SearchStrategy[dict[str, Any]] = st.just({})
SIGNATURES = NOTHING | TEXT_VALUES.map(lambda signature: {"thoughtSignature": signature})
TEXT = TEXT_VALUES.map(lambda text: {"text": text})
SHOWN = st.sampled_from(
    [
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
        {"inlineData": {"mimeType": "audio/mp3", "data": "UklGRg=="}},
        {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": "UklGRg=="}},
        {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://example.org/a.jpg"}},
    ]
)
NAMES = st.sampled_from(["f", "g"])
OTHER = st.dictionaries(WORDS.filter(lambda key: key != "output"), JSON, max_size=2)
"""Results under keys that a client chose."""


@st.composite
def called(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw the model's calls, and the results in their order, with or without ids."""
    parts: list[dict[str, Any]] = [
        {**signature, "text": text} if not is_thought else {**signature, "text": text, "thought": True}
        for is_thought, text, signature in draw(st.lists(st.tuples(st.booleans(), TEXT_VALUES, SIGNATURES), max_size=3))
    ]
    calls, results = [], []
    for number, (name, args) in enumerate(draw(st.lists(st.tuples(NAMES, OBJECTS), min_size=1, max_size=3))):
        ident = draw(NOTHING | st.just({"id": f"{number}-{draw(TEXT_VALUES)}"}))
        calls.append({"functionCall": {**ident, "name": name, "args": args}, **draw(SIGNATURES)})
        answer = draw(OTHER | WORDS.filter(lambda text: not text.startswith("{")).map(lambda text: {"output": text}))
        results.append({"functionResponse": {**ident, "name": name, "response": answer}})
    return [{"role": "model", "parts": [*parts, *calls]}, {"role": "user", "parts": results}]


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a request that the transcript can hold in full."""
    system = st.lists(TEXT, min_size=1, max_size=2).map(lambda parts: {"systemInstruction": {"parts": parts}})
    user = st.lists(TEXT | SHOWN, min_size=1, max_size=3).map(lambda parts: [{"role": "user", "parts": parts}])
    ended = TEXT.map(lambda part: [{"role": "model", "parts": [part, {"text": "", "thoughtSignature": "c2ln"}]}])
    spoken = draw(st.lists(called() | user | ended, max_size=3))
    return {**draw(NOTHING | system), "contents": [content for each in spoken for content in each]}


@settings(max_examples=examples(150))
@given(requests())
def test_a_request_that_the_transcript_can_hold_comes_back_equal(native: dict[str, Any]) -> None:
    goes_and_returns(DIALECT, native)


@given(WORDS | COMPACT | COMPACT.map(lambda text: json.dumps({"output": text}, separators=(",", ":"))))
def test_any_text_of_a_result_comes_back_unchanged(text: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    canonical: list[dict[str, Any]] = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": text},
    ]
    converted = to_native(canonical)
    assert () == converted.lost
    assert canonical == to_canonical(converted.value).value


def bodies(shared: Path) -> Iterator[tuple[str, str, Any]]:
    """Yield every recorded body with its reference; those of a batch one at a time."""
    with gzip.open(shared / "recordings" / "gemini_native.jsonl.gz") as lines:
        for line in lines:
            record = json.loads(line)
            asked = record["request"]
            for request in asked.get("batch", {}).get("inputConfig", {}).get("requests", {}).get("requests", ()):
                yield record["ref"], "request", request["request"]
            if "batch" not in asked:
                yield record["ref"], "request", asked
            yield record["ref"], "response", record["response"]


def test_every_recorded_exchange_comes_back_without_the_named_losses(shared: Path) -> None:
    came, refused = 0, []
    for ref, side, native in bodies(shared):
        try:
            dialects.validate(native, "gemini")
            converted = to_canonical(native)
        except InvalidDocument as error:
            refused.append(str(error))
            continue
        dialects.validate(converted.value, CANONICAL)
        back = to_native(converted.value)
        assert () == back.lost
        dialects.validate(back.value, "gemini")
        whole = marked(native if isinstance(native, dict) else assembled(native), converted.lost)
        if side == "response":
            whole = {"contents": [whole["candidates"][0]["content"]]} if converted.value else {}
        assert "" == missing(whole, back.value), (ref, converted.lost)
        came += 1
    assert [
        "<input>: in the event stream: expected events, got text without any",  # a body whose JSON the recorder broke
        '<input>: at /contents/0/role: expected "user", "model" or "function", got "invalid_role"',  # answered with 400
    ] == refused
    assert came > 390


def test_results_without_ids_answer_the_open_calls_with_their_name_in_order() -> None:
    made = [{"functionCall": {"name": name}} for name in ("f", "g", "f")]
    given_back = [
        {"functionResponse": {"name": name, "response": {"output": text}}} for name, text in ("f1", "f2", "g3")
    ]
    found = to_canonical({"contents": [{"role": "model", "parts": made}, {"role": "user", "parts": given_back}]})
    assert [("turn-0.0", "1"), ("turn-0.2", "2"), ("turn-0.1", "3")] == [
        (message["tool_call_id"], message["content"]) for message in found.value[1:]
    ]


@pytest.mark.parametrize("role", ["user", "model"])
def test_a_content_without_parts_comes_back_as_an_empty_text_and_is_named(role: str) -> None:
    assert [("/contents/0/parts", "comes back as an empty text")] == [
        (loss.pointer, loss.reason) for loss in to_canonical({"contents": [{"role": role, "parts": []}]}).lost
    ]


def test_results_in_two_contents_come_back_in_one_and_are_named() -> None:
    made = [{"functionCall": {"id": name, "name": name}} for name in "fg"]
    answers = [{"functionResponse": {"id": name, "name": name, "response": {"output": "1"}}} for name in "fg"]
    contents = [{"role": "model", "parts": made}, *[{"role": "user", "parts": [answer]} for answer in answers]]
    found = to_canonical({"contents": contents})
    assert [("/contents/2", "comes back in one content with the results before it")] == [
        (loss.pointer, loss.reason) for loss in found.lost
    ]


def test_a_loss_points_to_the_key_in_its_given_spelling() -> None:
    call = {"function_call": {"name": "f", "more": 1}, "video_metadata": {}}
    native = {"system_instruction": {"parts": [{"text": ""}]}, "contents": [{"role": "model", "parts": [call]}]}
    assert [
        "/system_instruction",
        "/system_instruction/parts/0",
        "/system_instruction",
        "/contents/0/parts/0/function_call",
        "/contents/0/parts/0/video_metadata",
        "/contents/0/parts/0/function_call/more",
    ] == [loss.pointer for loss in to_canonical(native).lost]


def test_a_signature_that_belongs_to_a_call_is_written_beside_it() -> None:
    detail = {"type": "reasoning.encrypted", "data": "c2ln", "id": "c", "format": "google-gemini-v1", "index": 0}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    found = to_native([{"role": "assistant", "reasoning_details": [detail], "tool_calls": [call]}])
    assert [{"functionCall": {"id": "c", "name": "f", "args": {}}, "thoughtSignature": "c2ln"}] == (
        found.value["contents"][0]["parts"]
    )
    assert ["/0/reasoning_details/0"] == [loss.pointer for loss in found.lost]


def test_a_signature_that_belongs_to_no_call_is_a_part_with_an_empty_text() -> None:
    detail = {"type": "reasoning.encrypted", "data": "c2ln", "format": "google-gemini-v1", "index": 0}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    found = to_native([{"role": "assistant", "reasoning_details": [detail], "content": None, "tool_calls": [call]}])
    assert {"text": "", "thoughtSignature": "c2ln"} in found.value["contents"][0]["parts"]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            {"reasoning_details": [{"type": "reasoning.text", "text": "x", "signature": "s", "format": "unknown"}]},
            ["/0/reasoning_details/0"],
        ),
        ({"reasoning_details": [{"type": "reasoning.summary", "summary": "x"}]}, ["/0/reasoning_details/0"]),
        ({"reasoning_content": "x", "reasoning": "x"}, ["/0/reasoning"]),
        ({"reasoning": "x"}, ["/0/reasoning"]),
        (
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "x"}]}]},
            ["/0/content/0"],
        ),
    ],
)
def test_what_a_part_cannot_hold_is_named_as_lost(message: dict[str, Any], expected: list[str]) -> None:
    assert expected == [loss.pointer for loss in to_native([{"role": "assistant", **message}]).lost]


def test_a_result_that_answers_no_call_is_named_as_lost() -> None:
    found = to_native([{"role": "tool", "tool_call_id": "c", "content": "x"}])
    assert ({"contents": []}, ["/0"]) == (found.value, [loss.pointer for loss in found.lost])


def test_texts_of_a_stream_are_joined_unless_a_signature_separates_them() -> None:
    parts = [{"text": "a"}, {"text": "b"}, {"text": "", "thoughtSignature": "s"}, {"text": "c"}, {"text": "d"}]
    chunks = [{"candidates": [{"content": {"role": "model", "parts": [part]}}]} for part in parts]
    expected = [{"text": "ab"}, {"text": "", "thoughtSignature": "s"}, {"text": "cd"}]
    assert expected == assembled(chunks)["candidates"][0]["content"]["parts"]
    assert (
        expected
        == (
            assembled("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks))["candidates"][0]["content"][
                "parts"
            ]
        )
    )


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        ([], {}),
        ("", {}),
        ([{"error": {"code": 500, "message": "no"}}], {"error": {"code": 500, "message": "no"}}),
        ([{"promptFeedback": {"blockReason": "SAFETY"}}], {"promptFeedback": {"blockReason": "SAFETY"}}),
    ],
)
def test_a_stream_without_a_message_gives_what_it_has(native: Any, expected: Any) -> None:
    assert expected == assembled(native)
    assert [] == to_canonical(native).value


VALID: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "Answer in one sentence."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "Is it cold in Oslo?"}]},
        {
            "role": "model",
            "parts": [
                {"text": "The tool knows.", "thought": True},
                {"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}, "thoughtSignature": "c2ln"},
            ],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "get_weather", "response": {"output": "9"}}}]},
    ],
    "generationConfig": {"temperature": 0},
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"/contents/0/role": "assistant"}, "/contents/0/role"),
        ({"/contents/0/parts/0/text": None}, "/contents/0/parts/0/text"),
        ({"/contents/0/parts": REMOVE}, "/contents/0"),
        ({"/contents/1/parts/1/functionCall/args": "{}"}, "/contents/1/parts/1/functionCall/args"),
        ({"/contents/1/parts/1/functionCall/name": 1}, "/contents/1/parts/1/functionCall/name"),
        ({"/contents/1/parts/1/thoughtSignature": 1}, "/contents/1/parts/1/thoughtSignature"),
        ({"/contents/2/parts/0/functionResponse/response": "9"}, "/contents/2/parts/0/functionResponse/response"),
        ({"/contents/2/parts/0": {"inline_data": {"data": 1}}}, "/contents/2/parts/0/inline_data/data"),
        ({"/systemInstruction": "Be brief."}, "/systemInstruction"),
        ({"/systemInstruction/parts/0/text": 1}, "/systemInstruction/parts/0/text"),
    ],
)
def test_the_schema_points_to_an_invalid_part(change: dict[str, Any], expected: str) -> None:
    assert () == tuple(validator("wires/gemini/request").errors(VALID))
    with pytest.raises(InvalidDocument, match=f"at {expected}: "):
        dialects.validate(edit(VALID, change), "gemini")


def test_one_part_or_one_content_without_its_list_is_valid() -> None:
    native = {
        "system_instruction": {"parts": {"text": "Be brief."}},
        "contents": {"role": "user", "parts": {"text": "Hi", "videoMetadata": {}}},
    }
    converted = dialects.to_canonical("gemini", native)
    assert [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}] == converted.value
    assert [
        "/system_instruction", "/system_instruction/parts", "/contents", "/contents/parts",
        "/contents/parts/videoMetadata",
    ] == [loss.pointer for loss in converted.lost]  # fmt: skip
    for loss in converted.lost:
        resolve(native, loss.pointer)


def test_one_part_without_its_list_is_read_in_streams_but_not_valid_in_replies() -> None:
    reply = {"candidates": [{"content": {"role": "model", "parts": {"text": "Hi"}}}]}
    for form in ([reply], [reply, reply]):
        converted = dialects.to_canonical("gemini", form)
        assert [{"role": "assistant", "content": "HiHi" if len(form) == 2 else "Hi"}] == converted.value
    with pytest.raises(InvalidDocument, match="at /candidates/0/content/parts: expected an array"):
        dialects.to_canonical("gemini", reply)
