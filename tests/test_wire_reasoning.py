"""Where messages hold reasoning: fields, tags and parts."""

from typing import Any

import pytest

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


def test_an_empty_field_is_present_but_carries_nothing() -> None:
    message = {"reasoning_content": "", "reasoning": None, "reasoning_details": [{"type": "reasoning.text"}]}
    assert ["reasoning_content", "reasoning_details"] == present_fields(message)
    assert ["reasoning_details"] == carried_fields(message)
