"""OpenAI Responses, translated into chat completions: what the rules then see, and where findings point."""

import copy
import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from conformance import wires
from conformance.documents.pointer import REMOVE, edit
from conformance.formats.records import exchange
from conformance.judge import check
from conformance.rules import Example
from conformance.wire.exchange import Conversation, Exchange
from tests.checking import BASES

CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "run",
    "arguments": "{}",
    "status": "completed",
}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "done"}
THINKING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "blob"}


def conversation(base: str, edits: dict[str, Any] | None = None) -> Conversation:
    return Example(base, edits or {}).conversation()


def translated(base: str, edits: dict[str, Any] | None = None) -> Conversation:
    return wires.translate(conversation(base, edits))


def sent(items: Any, **body: Any) -> Exchange:
    request = {"model": "example-model", "input": items, **body}
    return wires.translate((Exchange(request=request, url="https://api.example.com/v1/responses"),))[0]


def roles(messages: list[dict[str, Any]]) -> list[str]:
    return [message["role"] for message in messages]


def findings(base: str, edits: dict[str, Any]) -> list[tuple[str, str]]:
    found = [(outcome.rule, each.at) for outcome in check(conversation(base, edits)) for each in outcome.findings]
    return sorted(found)


def test_neighbouring_items_of_the_assistant_are_one_message() -> None:
    messages = translated("responses-session")[2].request["messages"]
    assert ["system", "user", "assistant", "tool", "tool", "assistant", "user"] == roles(messages)
    assert ["call_a", "call_b"] == [call["id"] for call in messages[2]["tool_calls"]]
    assert ["YmxvYi0x"] == [detail["data"] for detail in messages[2]["reasoning_details"]]
    assert "Paris has 18 degrees, Rome 24." == messages[5]["content"]


def test_interleaved_outputs_stay_between_their_calls() -> None:
    second = {**CALL, "id": "fc_2", "call_id": "call_2"}
    made = sent([CALL, OUTPUT, second, {**OUTPUT, "call_id": "call_2"}])
    assert ["assistant", "tool", "assistant", "tool"] == roles(made.request["messages"])


def test_a_custom_tool_is_a_function_with_a_text_under_one_key() -> None:
    tool = {"type": "custom", "name": "run"}
    call = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "run", "input": "ls -la"}
    made = sent([call, {**OUTPUT, "type": "custom_tool_call_output"}], tools=[tool])
    assert '{"input":"ls -la"}' == made.request["messages"][0]["tool_calls"][0]["function"]["arguments"]
    assert ["input"] == made.request["tools"][0]["function"]["parameters"]["required"]
    assert "call_1" == made.request["messages"][1]["tool_call_id"]


def test_a_tool_within_a_namespace_is_another_one_than_without() -> None:
    space = {"type": "namespace", "name": "shell", "tools": [{"type": "function", "name": "run", "parameters": {}}]}
    made = sent([{**CALL, "namespace": "shell"}, OUTPUT], tools=[space])
    assert "shell.run" == made.request["tools"][0]["function"]["name"]
    assert "shell.run" == made.request["messages"][0]["tool_calls"][0]["function"]["name"]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("required", "required"),
        ({"type": "function", "name": "run"}, {"type": "function", "function": {"name": "run"}}),
        ({"type": "allowed_tools", "mode": "required", "tools": []}, "required"),
        ({"type": "web_search_preview"}, "auto"),
    ],
)
def test_a_tool_choice_keeps_its_meaning(choice: Any, expected: Any) -> None:
    tools = [{"type": "function", "name": "run", "parameters": {}}]
    assert expected == sent("Hi", tools=tools, tool_choice=choice).request["tool_choice"]


@pytest.mark.parametrize(
    ("status", "details", "calls", "expected"),
    [
        ("completed", None, True, "tool_calls"),
        ("completed", None, False, "stop"),
        ("incomplete", {"reason": "max_output_tokens"}, False, "length"),
        ("incomplete", {"reason": "content_filter"}, False, "content_filter"),
        ("failed", None, False, None),
        ("in_progress", None, False, None),
    ],
)
def test_the_finish_reason_comes_from_status_and_calls(
    status: str, details: Any, *, calls: bool, expected: Any
) -> None:
    edits = {"/0/response/status": status, "/0/response/incomplete_details": details}
    edits |= {} if calls else {"/0/response/output/2": REMOVE, "/0/response/output/1": REMOVE}
    assert expected == translated("responses-session", edits)[0].response["choices"][0]["finish_reason"]


def test_usage_has_the_names_of_chat_completions() -> None:
    usage = translated("responses-session")[1].response["usage"]
    assert {"cached_tokens": 40} == usage["prompt_tokens_details"]
    assert (80, 20, 100) == (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"])


def test_a_stream_adds_up_to_the_reply_that_its_end_repeats() -> None:
    first = translated("responses-stream")[0]
    assert first.native is not None
    assert BASES["responses-stream"][0]["response"][-1]["response"] == first.native.reply
    assert first.native.complete
    assert () == first.native.irregularities


@pytest.mark.parametrize(
    ("edits", "kind"),
    [
        ({"/0/response/0": {"type": "response.in_progress", "sequence_number": 0, "response": {}}}, "no-begin"),
        ({"/0/response/16": {"type": "keepalive", "sequence_number": 16}}, "item-not-open"),
        ({"/0/response/20": {"type": "keepalive", "sequence_number": 20}}, "item-not-done"),
        ({"/0/response/10": {"type": "keepalive", "sequence_number": 10}}, "part-not-open"),
        ({"/0/response/14": {"type": "keepalive", "sequence_number": 14}}, "part-not-done"),
        ({"/0/response/19": {"type": "keepalive", "sequence_number": 19}}, "text-not-done"),
        ({"/0/response/-": {"type": "keepalive", "sequence_number": 22}}, "after-end"),
        ({"/0/response/5": {"sequence_number": 5}}, "event-untyped"),
    ],
)
def test_events_out_of_order_are_noted(edits: dict[str, Any], kind: str) -> None:
    native = translated("responses-stream", edits)[0].native
    assert native is not None
    assert kind in [each.kind for each in native.irregularities]


@pytest.mark.parametrize(
    ("edits", "name"),
    [
        ({"/0/response/5/sequence_number": 4}, "numbering"),
        ({"/0/response/5/sequence_number": REMOVE}, "numbering"),
        ({"/0/response/9/output_index": 2}, "indexes"),
        ({"/0/response/10/content_index": 1}, "indexes"),
        ({"/0/response/11/item_id": "msg_other"}, "ids"),
        ({"/0/response/15": {"type": "keepalive", "sequence_number": 15}}, "overlaps"),
        ({"/0/response/12/delta": " see."}, "differences"),
        ({"/0/response/21/response/output/2/arguments": "{}"}, "differences"),
        ({"/0/response/21/response/output": []}, "differences"),
    ],
)
def test_what_is_not_about_the_order_of_events_is_noted_aside(edits: dict[str, Any], name: str) -> None:
    native = translated("responses-stream", edits)[0].native
    assert native is not None
    assert name in native.facts


@pytest.mark.parametrize(
    ("edits", "continues"),
    [
        ({}, True),
        ({"/0/response/11/obfuscation": "x8", "/0/response/12/obfuscation": "q"}, True),
        ({"/0/response/12/delta": None}, False),
        ({"/0/response/12/sequence_number": 11}, False),
        ({"/0/response/12/sequence_number": 12.0}, False),
        ({"/0/response/12/output_index": 0}, False),
        ({"/0/response/12/content_index": 1}, False),
        ({"/0/response/12/content_index": False}, False),
        ({"/0/response/11/obfuscation": "x8", "/0/response/12/obfuscation": 5}, False),
        ({"/0/response/12/item_id": "msg_other"}, False),
        ({"/0/response/12/type": "response.refusal.delta"}, False),
        ({"/0/response/11/delta": 1}, False),
    ],
)
def test_an_event_continues_the_one_before_if_only_its_text_and_number_differ(
    edits: dict[str, Any], *, continues: bool
) -> None:
    native = translated("responses-stream", edits)[0].native
    assert native is not None
    assert continues == (12 in native.continuing)


def test_items_that_share_an_index_are_all_in_the_reply() -> None:
    record = translated("responses-stream")[0].native
    assert record is not None
    events = [copy.deepcopy(event.value) for event in record.events]
    moved = [{**event, "output_index": 1} if event.get("output_index") == 2 else event for event in events]
    made = translated("responses-stream", {"/0/response": moved})[0]
    assert made.native is not None
    assert ["message", "function_call"] == [item["type"] for item in (made.native.reply or {})["output"]][-2:]
    assert ["index-taken"] == [each.kind for each in made.native.facts["indexes"] if "second time" in each.message]


def test_a_stream_without_its_end_is_no_whole_reply() -> None:
    native = translated("responses-stream", {"/0/response/21": REMOVE})[0].native
    assert native is not None
    assert not native.complete


def test_a_failed_stream_is_no_whole_reply_and_says_why() -> None:
    failure = {"code": "server_error", "message": "Overloaded."}
    edits = {"/0/response/21/type": "response.failed", "/0/response/21/response/status": "failed"}
    native = translated("responses-stream", {**edits, "/0/response/21/response/error": failure})[0].native
    assert native is not None
    assert failure == native.facts["error"]
    assert not native.complete


@pytest.mark.parametrize("nested", [True, False])
def test_an_error_event_is_an_error_whether_flat_or_nested(*, nested: bool) -> None:
    error = {"message": "Overloaded.", "code": "server_error"}
    event = {"type": "error", **({"error": error} if nested else error)}
    exchange = Exchange(response=f"event: error\ndata: {json.dumps(event)}\n\n", streamed=True, url="/v1/responses")
    assert {"error": error} == wires.translate((exchange,))[0].response


@pytest.mark.parametrize(
    ("base", "edits", "rule", "at"),
    [
        ("responses-session", {"/1/request/input/1": REMOVE}, "reasoning/resent-on-tool-turns", "/1/request/input/1"),
        (
            "responses-session",
            {"/1/request/input/1/encrypted_content": "b3RoZXI="},
            "reasoning/details-unchanged",
            "/1/request/input/1",
        ),
        (
            "responses-stream",
            {"/1/request/input/1/encrypted_content": "YmU="},
            "responses/blob-of-the-done-item",
            "/1/request/input/1/encrypted_content",
        ),
        (
            "responses-session",
            {"/1/request/input/2/arguments": '{"city": "Oslo"}'},
            "transcript/reply-resent-unchanged",
            "/1/request/input/2/arguments",
        ),
        ("responses-session", {"/1/request/input/5": REMOVE}, "transcript/calls-answered", "/1/request/input/3"),
        (
            "responses-session",
            {"/2/request/input/4/call_id": "call_z"},
            "transcript/result-answers-call",
            "/2/request/input/4/call_id",
        ),
        (
            "responses-held-session",
            {"/1/request/input/1": REMOVE},
            "transcript/calls-answered",
            "/1/request/previous_response_id",
        ),
        (
            "responses-held-session",
            {"/1/request/input/1/call_id": "call_z"},
            "transcript/result-answers-call",
            "/1/request/input/1/call_id",
        ),
    ],
)
def test_the_rules_of_chat_completions_find_faults_and_point_into_the_native_body(
    base: str, edits: dict[str, Any], rule: str, at: str
) -> None:
    assert (rule, at) in findings(base, edits)


@pytest.mark.parametrize(
    "edits",
    [
        {"/1/request/input/1/id": REMOVE},
        {"/1/request/input/1/summary": []},
        {"/1/request/input/1/summary": [{"type": "summary_text", "text": ""}]},
        {"/1/request/input/1/id": REMOVE, "/1/request/input/1/summary": REMOVE},
    ],
)
def test_what_the_server_reads_out_of_the_blob_may_be_left_out(edits: dict[str, Any]) -> None:
    assert [] == [each for each in findings("responses-session", edits) if each[0].startswith("reasoning/")]


def test_the_blob_that_the_end_of_a_stream_repeats_is_as_good_as_that_of_the_item() -> None:
    edits = {
        "/0/response/21/response/output/0/encrypted_content": "YW5ldw==",
        "/1/request/input/1/encrypted_content": "YW5ldw==",
    }
    assert [] == findings("responses-stream", edits)


@pytest.mark.parametrize(("stored", "expected"), [(True, []), (False, ["reasoning/details-unchanged"])])
def test_an_id_alone_stands_for_reasoning_only_if_the_server_stores_it(*, stored: bool, expected: list[str]) -> None:
    edits: dict[str, Any] = {"/1/request/input/1/encrypted_content": REMOVE}
    for number in range(3):
        edits |= {f"/{number}/request/store": stored, f"/{number}/response/store": stored}
    edits |= {"/2/request/input/1/encrypted_content": REMOVE}
    found = [rule for rule, at in findings("responses-session", edits) if at.startswith("/1/")]
    assert expected == [rule for rule in found if rule.startswith("reasoning/")]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ([], ["transcript/result-answers-call"]),
        ([{"type": "compaction", "encrypted_content": "x"}], []),
        ([{"type": "compaction_summary", "encrypted_content": "x"}], []),
        ([{"type": "web_search_call", "id": "ws_1", "status": "completed"}], ["transcript/result-answers-call"]),
    ],
)
def test_a_compaction_may_hold_the_call_of_a_result(before: list[Any], expected: list[str]) -> None:
    asked = [*before, {"type": "function_call_output", "call_id": "c", "output": "1"}]
    sent = Exchange({"model": "m", "input": asked}, url="/v1/responses")
    assert expected == [outcome.rule for outcome in check(sent) if outcome.findings]


@pytest.mark.parametrize(("facts", "stored"), [({}, True), ({"store": True}, True), ({"store": False}, False)])
def test_an_unknown_id_alone_stands_for_reasoning_unless_the_server_stores_nothing(
    facts: dict[str, Any], *, stored: bool
) -> None:
    called = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    asked = [{"role": "user", "content": "Go."}, {"type": "reasoning", "id": "rs_9", "summary": []}, called]
    (sent,) = wires.translate((Exchange({"model": "m", "input": asked, **facts}, url="/v1/responses"),))
    assert stored is ("reasoning_details" in sent.request["messages"][1])


def test_a_response_that_ends_without_its_output_is_noted() -> None:
    native = translated("responses-stream", {"/0/response/21/response/output": None})[0].native
    assert native is not None
    words = "expected the output in the response at its end, got None"
    assert (("end-without-output", ("response", 21), words),) == native.facts["differences"]


@pytest.mark.parametrize(
    "body",
    [
        {"model": "text-embedding-3-small", "input": "Hello"},
        {"model": "text-embedding-3-small", "input": ["Hello", "Bye"], "encoding_format": "float"},
        {"model": "tts-1", "input": "Hello", "voice": "alloy", "instructions": None, "messages": []},
        {"model": "omni-moderation-latest", "input": [{"type": "text", "text": "Hello"}]},
        {"model": "gpt-5", "messages": [{"role": "user", "content": "Hello"}], "store": True},
    ],
)
def test_bodies_of_other_endpoints_are_not_taken_for_responses(body: dict[str, Any]) -> None:
    assert not wires.is_native(Exchange(request=body))


@pytest.mark.slow
@pytest.mark.parametrize("base", ["responses-session", "responses-held-session", "responses-stream"])
def test_damage_to_the_fixtures_breaks_nothing(base: str) -> None:
    values: Iterator[Any] = itertools.cycle([[], {}, None, 7, [[]], "x", {"type": []}])
    for pointer, value in zip(_pointers(BASES[base]), values, strict=False):
        damaged = tuple([exchange(each, base) for each in edit(BASES[base], {pointer: value})])
        assert len(damaged) == len(wires.translate(damaged))


def _pointers(value: Any, at: str = "") -> Iterator[str]:
    listed = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    for key, inner in listed:
        # The keys of a record itself are checked by the reader of files.
        if at.count("/") >= 2:
            yield f"{at}/{key}"
        yield from _pointers(inner, f"{at}/{key}")
