"""The Prompt API's results: runs and messages, partial results, and usage that adds up."""

import copy
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.convert.dialects import CANONICAL, prompt_api
from conformance.documents.pointer import edit, resolve
from tests.drawn_prompt_api import pointers, results, valid
from tests.losses import TRANSCRIPTS

PNG = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}


@given(results())
def test_a_result_comes_back_equal_with_its_run_metadata(result: dict[str, Any]) -> None:
    before = copy.deepcopy(valid(result, "prompt-api"))
    converted = prompt_api.from_result(result)
    assert converted == prompt_api.to_canonical(result)
    assert {loss.pointer.rsplit("/", 1)[1] for loss in converted.lost} <= {"usage", "durationMs"}
    session = [{"role": "user", "content": "?"}, *valid(converted.value, CANONICAL)]
    back = prompt_api.to_result(session, *prompt_api.run_metadata(result))
    assert (result, ["/0"]) == (back.value, pointers(back))
    assert before == result


@given(st.lists(results(), min_size=1, max_size=3))
def test_a_session_has_one_result_per_prompt(given_results: list[dict[str, Any]]) -> None:
    session: list[Any] = []
    usages: list[Any] = []
    durations: list[Any] = []
    for result in given_results:
        session += [{"role": "user", "content": "?"}, *prompt_api.from_result(result).value]
        metadata = prompt_api.run_metadata(result)
        usages += metadata.usages
        durations += metadata.durations
    assert given_results == prompt_api.to_results(session, usages, durations).value
    runs = len(given_results[-1]["runs"])
    last = prompt_api.to_result(session, usages[-runs:], durations[-runs:])
    assert given_results[-1] == last.value
    tail = 1 + sum(1 + len(run["tools"]) for run in given_results[-1]["runs"])
    assert len(session) - tail + 1 == len(last.lost)


@given(TRANSCRIPTS)
def test_a_result_of_any_transcript_is_valid_and_its_losses_exist(canonical: list[Any]) -> None:
    before = copy.deepcopy(canonical)
    for converted in (prompt_api.to_result(canonical), prompt_api.to_results(canonical)):
        for result in converted.value if isinstance(converted.value, list) else [converted.value]:
            valid(result, "prompt-api")
            assert () == prompt_api.miscounts(result)
        for loss in converted.lost:
            resolve(canonical, loss.pointer)
        assert len(set(pointers(converted))) == len(converted.lost)
    assert before == canonical


@given(results())
def test_partials_are_results_that_only_grow_up_to_the_final_one(result: dict[str, Any]) -> None:
    chunks = list(prompt_api.partials(result))
    for chunk in chunks:
        valid(chunk, "prompt-api")
        assert () == prompt_api.miscounts(chunk)
    for earlier, later in pairwise(chunks):
        assert prompt_api.extends(later, earlier)
        assert not prompt_api.extends(earlier, later) or earlier == later
    assert result == chunks[-1]
    assert [True] == [chunk["done"] for chunk in chunks if chunk["done"]]


USAGE = {"promptTokens": 3, "completionTokens": 2, "totalTokens": 5}
RESULT: dict[str, Any] = {
    "done": True,
    "runs": [{"thinkingText": "", "text": text, "tools": [], "usage": dict(USAGE)} for text in ("Well.", "Hi.")],
    "usage": {"promptTokens": 6, "completionTokens": 4, "totalTokens": 10},
}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"/usage/totalTokens": 11}, ["/usage/totalTokens", "/usage/totalTokens"]),
        ({"/usage/promptTokens": 7, "/usage/totalTokens": 11}, ["/usage/promptTokens", "/usage/totalTokens"]),
        ({"/runs/1/usage/totalTokens": 6}, ["/runs/1/usage/totalTokens", "/usage/totalTokens"]),
    ],
)
def test_usage_that_does_not_add_up_is_listed_with_its_pointer(changes: dict[str, int], expected: list[str]) -> None:
    assert expected == [each.pointer for each in prompt_api.miscounts(edit(RESULT, changes))]


def test_a_miscount_has_the_expected_number() -> None:
    [found] = prompt_api.miscounts(edit(RESULT, {"/usage/completionTokens": 5, "/usage/totalTokens": 11}))[:1]
    assert ("/usage/completionTokens", "expected 4 for all runs, got 5") == found


def test_an_unfinished_result_loses_its_flag_and_a_running_tool_has_no_message() -> None:
    tool = {"id": "c1", "name": "f", "args": {}}
    partial = edit(RESULT, {"/done": False, "/runs/1/tools": [tool]})
    converted = prompt_api.from_result(valid(partial, "prompt-api"))
    assert ["assistant", "assistant"] == [message["role"] for message in converted.value]
    assert ["/done", "/runs/0/usage", "/runs/1/usage", "/usage"] == pointers(converted)


def test_images_in_an_output_are_named_as_lost_and_one_text_is_a_string() -> None:
    output = {"content": [{"type": "text", "text": "18"}, PNG]}
    tool = {"id": "c1", "name": "f", "args": {"city": "Köln"}, "output": output}
    converted = prompt_api.from_result(edit(RESULT, {"/runs/1/tools": [tool]}))
    assert {"role": "tool", "tool_call_id": "c1", "content": "18"} == converted.value[-1]
    assert '{"city":"Köln"}' == converted.value[1]["tool_calls"][0]["function"]["arguments"]
    assert "/runs/1/tools/0/output/content/1" in pointers(converted)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_empty_reasoning_is_named_as_lost_with_its_field(field: str) -> None:
    converted = prompt_api.to_result([{"role": "assistant", "content": "Hi.", field: ""}])
    assert [f"/0/{field}"] == pointers(converted)


def test_usage_that_does_not_add_up_is_named_with_the_other_losses() -> None:
    result = edit(RESULT, {"/usage/completionTokens": 5, "/usage/totalTokens": 11})
    found = {each.pointer for each in prompt_api.miscounts(result)}
    assert found
    lost = [loss for loss in prompt_api.to_canonical(result).lost if loss.pointer in found]
    assert found == {loss.pointer for loss in lost}
    assert all("does not add up: expected " in loss.reason for loss in lost)
