"""Where messages hold reasoning: fields, tags and parts."""

from typing import Any

import pytest

from conformance import Exchange, Status, check
from conformance.wire.reasoning import (
    FIELDS,
    PARTS,
    TAGS,
    Tagged,
    carried_fields,
    find_tagged,
    has_field,
    prepend_reasoning,
    present_fields,
    reasoning_text,
    untagged_text,
)
from tests.loops import every


@pytest.mark.parametrize(
    ("expected", "content"),
    [
        (Tagged("a", "b", opened=True, closed=True), "<think>a</think>b"),
        (Tagged("a", "b", opened=True, closed=True), "\n<think>a\n</think>b"),
        (Tagged("a", "b", opened=False, closed=True), "a</think>b"),
        (Tagged("a", "", opened=True, closed=False), "<think>a"),
        (None, "Write `<think>a</think>` first."),
        (None, "<thinking>a</thinking>b"),
        (None, "a"),
        (None, None),
        (None, [{"type": "text", "text": "<think>a</think>b"}]),
    ],
)
def test_tags_are_found_at_the_start_of_a_string(expected: Tagged | None, content: Any) -> None:
    assert expected == find_tagged(content)


@every("field", [*TAGS, *PARTS])
@every("content", ["b", None, [{"type": "text", "text": "b"}]])
def test_prepended_reasoning_is_found_again(field: str, content: Any) -> None:
    message = {"content": prepend_reasoning(content, "a", field)}
    assert [field] == [each for each in FIELDS if has_field(message, each)]
    assert ("b" if content else "") == untagged_text(message["content"])
    if field in PARTS:
        assert [field] == carried_fields(message)
        expected = "a"
        assert expected == reasoning_text(message, field)


@pytest.mark.parametrize(
    ("more", "expected"),
    [({}, Status.NOT_APPLICABLE), ({"id": None}, Status.NOT_APPLICABLE), ({"signature": "c2ln"}, Status.FAILED)],
)
def test_details_of_text_alone_may_come_back_under_another_key(more: dict[str, Any], expected: Status) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    detail = {"type": "reasoning.text", "text": "Hm.", "format": "unknown", "index": 0, **more}
    reply = {"index": 0, "message": {**said, "reasoning_details": [detail]}, "finish_reason": "tool_calls"}
    user, result = {"role": "user", "content": "Go."}, {"role": "tool", "tool_call_id": "call_1", "content": "9"}
    first = Exchange({"model": "m", "messages": [user]}, {"choices": [reply]}, 200)
    back = Exchange({"model": "m", "messages": [user, {**said, "reasoning_content": "Hm."}, result]}, None, 200)
    (outcome,) = check((first, back), rules="reasoning/details-unchanged")
    assert expected is outcome.status


@pytest.mark.parametrize(
    ("back", "expected"),
    [
        ({"reasoning_content": "Hm."}, []),
        ({"reasoning_content": "Hm.", "reasoning": "Hm."}, []),
        ({"reasoning_content": "Hm.", "reasoning": "Well."}, ["/1/request/messages/1/reasoning"]),
        ({"reasoning_content": "Well."}, ["/1/request/messages/1/reasoning_content"]),
    ],
)
def test_each_field_that_returns_reasoning_has_to_hold_it_word_for_word(
    back: dict[str, Any], expected: list[str]
) -> None:
    user, said = {"role": "user", "content": "Go."}, {"role": "assistant", "content": "Done."}
    reply = {"index": 0, "message": {**said, "reasoning_content": "Hm."}, "finish_reason": "stop"}
    first = Exchange({"model": "m", "messages": [user]}, {"choices": [reply]}, 200)
    second = Exchange({"model": "m", "messages": [user, {**said, **back}, user]}, None, 200)
    (outcome,) = check((first, second), rules="reasoning/verbatim")
    assert expected == [found.at for found in outcome.findings]


def test_an_empty_field_is_present_but_carries_nothing() -> None:
    message = {"reasoning_content": "", "reasoning": None, "reasoning_details": [{"type": "reasoning.text"}]}
    assert ["reasoning_content", "reasoning_details"] == present_fields(message)
    assert ["reasoning_details"] == carried_fields(message)
