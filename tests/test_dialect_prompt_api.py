"""The Prompt API's messages: what comes back equal, and what is named as lost."""

import copy
from typing import Any

import pytest
from hypothesis import given

from conformance.convert.dialects import CANONICAL, prompt_api
from conformance.documents import read_json
from conformance.documents.pointer import edit
from conformance.resources import folder
from conformance.schemas import check_schema, validator
from tests.drawn_prompt_api import holdable, pointers, valid
from tests.losses import CALLS

SCHEMA: Any = read_json(folder("schemas") / "dialects" / "prompt-api.json")


def test_the_schema_is_one_and_passes_its_own_examples() -> None:
    assert () == check_schema(SCHEMA)
    for example in SCHEMA["examples"]:
        assert () == validator("dialects/prompt-api").errors(example)


@given(holdable)
def test_what_the_wire_can_hold_comes_back_equal(native: list[Any]) -> None:
    before = copy.deepcopy(valid(native, "prompt-api"))
    canonical = prompt_api.to_canonical(native)
    assert () == canonical.lost
    assert (native, ()) == prompt_api.to_native(valid(canonical.value, CANONICAL))
    assert before == native


@given(CALLS)
def test_arguments_come_back_byte_for_byte_or_are_named_as_lost(made: list[Any]) -> None:
    canonical = [{"role": "assistant", "tool_calls": made}]
    native = prompt_api.to_native(canonical)
    [back] = prompt_api.to_canonical(native.value).value
    for number, call in enumerate(made):
        named = f"/0/tool_calls/{number}/function/arguments" in pointers(native)
        assert named == (call["function"]["arguments"] != back["tool_calls"][number]["function"]["arguments"])


MESSAGES: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
    {"role": "assistant", "toolCalls": [{"id": "c1", "function": {"name": "f", "arguments": {}}}]},
    {"role": "tool", "toolCallId": "c1", "content": [{"type": "text", "text": "18"}]},
]
PNG = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"/3/name": "f"}, "/3/name"),
        ({"/3/content/-": PNG}, "/3/content/1"),
        ({"/3/content/0": PNG}, "/3/content/0"),
        ({"/0/content": [PNG]}, "/0/content/0"),
        ({"/2/content": [PNG]}, "/2/content/0"),
        ({"/2/toolCalls": []}, "/2/toolCalls"),
        ({"/1/content": []}, "/1/content"),
        ({"/1/content/-": {"type": "image", "data": "AAAA"}}, "/1/content/1"),
        ({"/1/content/-": {"type": "audio", "data": "AAAA"}}, "/1/content/1"),
        ({"/1/content/-": {"type": "audio", "data": "https://e.org/a.wav"}}, "/1/content/1"),
        ({"/1/content/-": {"type": "audio", "data": "AAAA", "mimeType": "audio/x-wav"}}, "/1/content/1/mimeType"),
        ({"/1/content/-": {"type": "audio", "data": "UklGRg==", "mimeType": "video/mp4"}}, "/1/content/1/mimeType"),
        ({"/1/content/-": {"type": "audio", "data": "data:audio/wave;base64,AAAA"}}, "/1/content/1/data"),
        ({"/1/content/-": {**PNG, "data": "https://e.org/a"}}, "/1/content/1/mimeType"),
        ({"/1/content/-": {**PNG, "data": "data:image/webp;base64,UklG"}}, "/1/content/1/mimeType"),
        ({"/1/content/-": {**PNG, "mimeType": "a,b"}}, "/1/content/1/mimeType"),
    ],
)
def test_only_what_the_wire_cannot_hold_is_named_as_lost(changes: dict[str, Any], pointer: str) -> None:
    native = edit(MESSAGES, changes)
    converted = prompt_api.to_canonical(valid(native, "prompt-api"))
    valid(converted.value, CANONICAL)
    assert [pointer] == pointers(converted)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({**PNG, "data": b"\x89PNG\r\n\x1a\n"}, PNG),
        ({**PNG, "data": bytearray(b"\x89PNG\r\n\x1a\n")}, PNG),
        ({**PNG, "data": memoryview(b"\x89PNG\r\n\x1a\n")}, PNG),
        ({"type": "image", "data": b"\x89PNG\r\n\x1a\n"}, PNG),
        ({"type": "image", "data": "data:image/png;base64,iVBORw0KGgo="}, PNG),
        ({**PNG, "data": "data:image/png;base64,iVBORw0KGgo="}, PNG),
        (
            {"type": "audio", "data": b"RIFF\0\0\0\0WAVE"},
            {"type": "audio", "data": "UklGRgAAAABXQVZF", "mimeType": "audio/wav"},
        ),
        (
            {"type": "audio", "data": "data:audio/mpeg;base64,SUQz"},
            {"type": "audio", "data": "SUQz", "mimeType": "audio/mpeg"},
        ),
    ],
)
def test_bytes_and_data_urls_come_back_as_base64_with_their_type(part: Any, expected: Any) -> None:
    canonical = prompt_api.to_canonical([{"role": "user", "content": [part]}])
    assert () == canonical.lost
    [back] = prompt_api.to_native(valid(canonical.value, CANONICAL)).value
    assert [expected] == back["content"]


def test_a_call_without_a_type_is_a_function() -> None:
    [call] = prompt_api.to_native(prompt_api.to_canonical(MESSAGES).value).value[2]["toolCalls"]
    assert {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {}}} == call


@pytest.mark.parametrize(
    "native",
    [
        {"role": "user", "content": "a list is wanted"},
        [{"role": "developer", "content": ""}],
        [{"role": "user", "content": "", "timestamp": 1}],
        [{"role": "user", "content": [{"type": "video", "data": ""}]}],
        [{"role": "user", "content": [{"type": "image", "data": b"bytes".hex(), "text": ""}]}],
        [{"role": "assistant", "toolCalls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}],
        [{"role": "assistant", "content": None}],
        [{"role": "tool", "content": ""}],
        {"done": True, "runs": [{"text": ""}], "usage": {}},
    ],
)
def test_a_value_that_is_not_of_the_dialect_is_invalid(native: Any) -> None:
    assert not validator("dialects/prompt-api").is_valid(native)
