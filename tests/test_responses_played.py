"""Chat completions as Responses, in both directions: nothing is lost on the way, and streams are as documented."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import orjson
import pytest

from conformance import profiles, scenarios, wires
from conformance.judge import check
from conformance.profiles import load_profile
from conformance.results import Evidence, Level, Status
from conformance.results.runs import Case
from conformance.simulator import Simulator
from conformance.suite.play import play
from conformance.suite.turns import Subject, converse
from conformance.wire.exchange import Conversation, Exchange
from conformance.wires.responses import writing
from tests.in_process import InProcess
from tests.loops import every
from tests.sampling import some

SPOKEN = [name for name in profiles.names() if "responses" in profiles.load(name).protocols]
RESPONSES = wires.by_name("responses")
EVERY = [scenarios.load(name) for name in scenarios.names()]
PLAYED = [(each.name, variant) for each in EVERY if not each.for_clients for variant in each.variants]


@cache
def conversations(provider: str) -> dict[tuple[str, str], Conversation]:
    """Return what the suites and the simulator of a provider send each other, by scenario and variant."""
    profile = load_profile(provider).on("responses")
    with InProcess(Simulator(load_profile(provider)).answer, "responses") as client:
        subject = Subject(profile, profile.model, client.send, Evidence.LIVE)
        return {
            (name, variant): tuple(converse(scenarios.load(name), variant, subject).exchanges)
            for name, variant in PLAYED
            if scenarios.load(name).unmet(subject.claims) is None
        }


def exchanges(provider: str) -> Iterator[Exchange]:
    for conversation in conversations(provider).values():
        yield from conversation


def text(reply: dict[str, Any]) -> str:
    lines = [f"event: {each.name}\ndata: {orjson.dumps(each.value).decode()}\n\n" for each in writing.events(reply)]
    return "".join(lines)


def without_text_members(request: dict[str, Any]) -> dict[str, Any]:
    """Return a request without what the texts of replies have beside them, and their phase, which go back with them."""
    items = orjson.loads(orjson.dumps(request["input"]))
    for item in items:
        item.pop("phase", None)
        for part in item["content"] if isinstance(item.get("content"), list) else ():
            part.pop("annotations", None)
            part.pop("logprobs", None)
    return {**request, "input": items}


@every("provider", some(SPOKEN, 8))
def test_a_request_is_the_same_after_a_round_trip(provider: str) -> None:
    for each in exchanges(provider):
        native = writing.request(each.request)
        assert each.native is not None
        assert without_text_members(each.native.request) == native
        made = RESPONSES.translate_one(Exchange(request=native, url="/v1/responses"))
        assert each.request == made.request


@every("provider", some(SPOKEN, 8))
def test_a_reply_is_the_same_after_a_round_trip_plain_and_streamed(provider: str) -> None:
    for each in exchanges(provider):
        native = writing.request(each.request)
        reply = writing.reply(each.response, native)
        plain = Exchange(request=native, response=reply, status=200, url="/v1/responses")
        streamed = Exchange(request=native, response=text(reply), status=200, streamed=True, url="/v1/responses")
        assert each.response == RESPONSES.translate_one(plain).response
        made = RESPONSES.translate_one(streamed)
        assert each.response == made.response
        assert made.native is not None
        assert ((), True) == (made.native.irregularities, made.native.complete)
        assert {"store", "include"} == made.native.facts.keys()


@every("provider", some(SPOKEN, 8))
def test_what_the_simulator_sends_breaks_no_rule(provider: str) -> None:
    profile = load_profile(provider)
    broken = {
        (outcome.rule, finding.message)
        for conversation in conversations(provider).values()
        for outcome in check(conversation, profile)
        for finding in outcome.findings
        if outcome.status is Status.ERRORED or outcome.level is Level.MUST
    }
    assert set() == broken


@every("provider", some(SPOKEN, 8))
def test_every_conversation_comes_to_its_end(provider: str) -> None:
    expected = {(name, variant): len(scenarios.load(name).turns) for name, variant in conversations(provider)}
    assert expected == {case: len(each) for case, each in conversations(provider).items()}
    assert ("interleaved-thinking", "stream") in expected


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("item-ids", "accepted"),
        ("absent-current-own", "accepted"),
        ("absent-current-with-item-ids", "was provided without its required 'reasoning' item"),
        ("reasoning-alone", "was provided without its required following item."),
        ("item-ids-invented", "Encrypted content item_id did not match the target item id."),
        ("reasoning-by-id", "Items are not persisted when `store` is set to false."),
        ("details-edited", "Encrypted content could not be decrypted or parsed."),
        ("details-duplicated", "Duplicate item found with id"),
    ],
)
def test_a_probe_of_items_gets_the_words_of_openai(name: str, words: str) -> None:
    (probe,) = [each for each in case_of("interleaved-thinking").probes if each.name == name]
    assert Status.PASSED is probe.status
    assert words in probe.observed


@cache
def case_of(scenario: str) -> Case:
    profile = load_profile("openai").on("responses")
    subject = Subject(profile, profile.model, Simulator(profile).send, Evidence.LIVE)
    return play(scenarios.load(scenario), "plain", subject)


def test_a_deviation_that_the_wire_has_no_place_for_is_not_sent() -> None:
    names = {each.name for each in case_of("one-tool-call").probes if each.observed}
    assert {"control", "results-missing", "ids-absent", "arguments-malformed"} <= names
    assert names.isdisjoint({"unknown-field-assistant", "unknown-field-tool", "unknown-field-call", "content-null"})


def test_a_request_has_the_shape_of_the_wire() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    body = {
        "model": "gpt-5.4-mini",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "And here?"}]},
            {
                "role": "assistant",
                "content": "Let me look.",
                "reasoning_details": [
                    {"type": "reasoning.summary", "summary": "A look.", "format": "openai-responses-v1"},
                    {"type": "reasoning.encrypted", "data": "YmxvYg==", "id": "rs_1"},
                    {"type": "reasoning.text", "text": "Now."},
                ],
                "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"city": "Rome"}'}}
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "18"},
        ],
        "tools": [{"type": "function", "function": {"name": "look", "description": "Look.", "parameters": schema}}],
        "tool_choice": {"type": "function", "function": {"name": "look"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "place", "strict": True, "schema": schema}},
        "reasoning": {"effort": "low", "summary": "auto"},
        "parallel_tool_calls": False,
        "max_completion_tokens": 500,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert {
        "model": "gpt-5.4-mini",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "low", "summary": "auto"},
        "parallel_tool_calls": False,
        "max_output_tokens": 500,
        "instructions": "Be brief.",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And here?"}]},
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "A look."}],
                "encrypted_content": "YmxvYg==",
            },
            {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Now."}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
            {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": '{"city": "Rome"}'},
            {"type": "function_call_output", "call_id": "call_1", "output": "18"},
        ],
        "tools": [{"type": "function", "name": "look", "description": "Look.", "parameters": schema, "strict": False}],
        "tool_choice": {"type": "function", "name": "look"},
        "text": {"format": {"type": "json_schema", "name": "place", "strict": True, "schema": schema}},
    } == writing.request(body)


def reply(message: dict[str, Any], reason: str = "stop", **asked: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    body = {"id": "chatcmpl-1", "model": "gpt-5.4-mini", "choices": [choice], "usage": {"prompt_tokens": 7}}
    return writing.reply(body, asked)


CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"city": "Rome"}'}}
THOUGHT = [
    {"type": "reasoning.summary", "summary": "A look is enough."},
    {"type": "reasoning.encrypted", "data": "YmxvYi0x"},
]


def test_the_events_of_a_stream_have_the_documented_order() -> None:
    made = reply({"content": "Let me look.", "reasoning_details": THOUGHT, "tool_calls": [CALL]}, store=False)
    events = list(writing.events(made))
    assert [*range(len(events))] == [each.value["sequence_number"] for each in events]
    assert all(each.name == each.value["type"] for each in events)
    assert [
        "created", "in_progress",
        "output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta",
        "reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done",
        "output_item.added", "content_part.added", "output_text.delta", "output_text.done", "content_part.done",
        "output_item.done",
        "output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
        "completed",
    ] == [name for name, _ in _grouped([each.name.removeprefix("response.") for each in events])]  # fmt: skip
    assert made == events[-1].value["response"]
    assert [0, 1, 2] == [each.value["output_index"] for each in events if each.name.endswith("output_item.added")]


def _grouped(names: list[str]) -> Iterator[tuple[str, int]]:
    last = ""
    for number, name in enumerate(names):
        if name != last:
            yield name, number
        last = name


def test_the_blob_of_an_added_item_is_not_whole() -> None:
    made = reply({"content": "Rome.", "reasoning_details": THOUGHT}, store=False)
    added, done = [each.value["item"] for each in writing.events(made) if "item" in each.value][:2]
    assert ("YmxvYi0x", []) == (done["encrypted_content"], added["summary"])
    assert done["encrypted_content"] != added["encrypted_content"]


@pytest.mark.parametrize(
    ("asked", "blob"),
    [
        ({}, False),
        ({"store": True}, False),
        ({"store": False}, True),
        ({"include": ["reasoning.encrypted_content"]}, True),
        ({"include": ["message.output_text.logprobs"]}, False),
    ],
)
def test_encrypted_content_comes_if_it_is_asked_for_or_nothing_is_stored(asked: dict[str, Any], *, blob: bool) -> None:
    (item, _) = reply({"content": "Rome.", "reasoning_details": THOUGHT}, **asked)["output"]
    assert blob is ("encrypted_content" in item)
    assert item["id"].startswith("rs_")


@pytest.mark.parametrize(
    ("reason", "status", "details", "end"),
    [
        ("stop", "completed", None, "response.completed"),
        ("tool_calls", "completed", None, "response.completed"),
        ("length", "incomplete", {"reason": "max_output_tokens"}, "response.incomplete"),
        ("content_filter", "incomplete", {"reason": "content_filter"}, "response.incomplete"),
    ],
)
def test_a_finish_reason_is_a_status(reason: str, status: str, details: Any, end: str) -> None:
    made = reply({"content": "Rome."}, reason)
    assert (status, details, status) == (made["status"], made["incomplete_details"], made["output"][-1]["status"])
    assert end == list(writing.events(made))[-1].name


def test_ids_differ_by_request_and_reply_and_are_the_same_again() -> None:
    first, again, other = [reply({"content": "Rome."}, input=words) for words in ("Hello", "Hello", "Good day")]
    assert first == again
    assert {"resp", "msg"} == {first["id"].partition("_")[0], first["output"][0]["id"].partition("_")[0]}
    assert {first["id"], first["output"][0]["id"]}.isdisjoint({other["id"], other["output"][0]["id"]})


def test_an_error_is_the_same_on_both_wires() -> None:
    error = {"error": {"message": "No.", "type": "invalid_request_error", "param": None, "code": None}}
    assert error == writing.reply(error, {})
