"""Anthropic Messages: recognised, translated with the places of its parts, assembled, judged, played."""

import gzip
import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import Exchange, Status, check, wires
from conformance.formats.records import exchange
from conformance.profiles import load_profile
from conformance.resources import folder
from conformance.results import Level
from conformance.simulator import simulated
from conformance.transport.client import Client, Endpoint
from conformance.wire.sse import render
from conformance.wires.messages import writing
from conformance.wires.messages.stream import assemble
from tests.loops import every

TOLERATED = {
    ("messages.jsonl:36", "transcript/calls-answered"): "an old model answered although the result has another id",
    ("messages.jsonl:36", "transcript/result-answers-call"): "an old model answered although the result has another id",
    ("messages.jsonl:38", "transcript/calls-answered"): "an old model answered although the result has another id",
    ("messages.jsonl:38", "transcript/result-answers-call"): "an old model answered although the result has another id",
    ("messages.jsonl:50", "transcript/reply-resent-unchanged"): "the client writes the thinking into the answer",
    ("messages.jsonl:62", "transcript/reply-resent-unchanged"): "the client writes the thinking into the answer",
    ("messages.jsonl:866", "transcript/reply-resent-unchanged"): "the client adds a call of its own to the reply",
    ("messages.jsonl:867", "transcript/reply-resent-unchanged"): "the client adds a call of its own to the reply",
}
"""What a client did wrong in an exchange that was answered all the same, by reference and rule, and why it is so."""

REFUSED = {
    "messages.jsonl:28": "native/request-shape",
    "messages.jsonl:85": "messages/content-not-empty",
    "messages.jsonl:241": "messages/budget-below-max-tokens",
    "messages.jsonl:660": "native/request-shape",
    "messages.jsonl:665": "native/request-shape",
    "messages.jsonl:666": "native/request-shape",
    "messages.jsonl:763": "native/request-shape",
}
"""The rule that finds why a recorded request was rejected, where the reason is about the wire."""


def session() -> list[Any]:
    value: list[Any] = json.loads((folder("fixtures") / "wire" / "messages-session.json").read_text("utf-8"))
    return value


def test_thinking_calls_and_results_become_those_of_chat_completions() -> None:
    (translated,) = wires.translate((exchange(session()[1], "test"),))
    asked, called, *results = translated.request["messages"][1:]
    assert asked == {"role": "user", "content": "What is the weather in Paris and Rome?"}
    assert [each["signature"] for each in called["reasoning_details"]] == ["c2lnbmVkLTE="]
    assert [each["id"] for each in called["tool_calls"]] == ["toolu_01", "toolu_02"]
    assert [each["tool_call_id"] for each in results] == ["toolu_01", "toolu_02"]


@pytest.mark.parametrize(
    ("change", "rule", "place"),
    [
        ({"tool_use_id": "toolu_09"}, "transcript/result-answers-call", "/1/request/messages/2/content/1/tool_use_id"),
        ({"tool_use_id": "toolu_01"}, "transcript/one-result-per-call", "/1/request/messages/2/content/1/tool_use_id"),
    ],
)
def test_a_finding_points_into_the_native_body(change: Mapping[str, str], rule: str, place: str) -> None:
    records = session()[:2]
    records[1]["request"]["messages"][2]["content"][1] |= change
    outcomes = check([exchange(each, "test") for each in records])
    (outcome,) = (each for each in outcomes if each.rule == rule)
    assert outcome.findings[0].at == place


@pytest.mark.parametrize(
    ("position", "block", "rule"),
    [
        (0, None, "reasoning/resent-on-tool-turns"),
        (0, {"type": "thinking", "thinking": "Two cities.", "signature": "b3RoZXI="}, "reasoning/details-unchanged"),
    ],
)
def test_thinking_that_is_lost_or_changed_is_a_must(position: int, block: Any, rule: str) -> None:
    records = session()[:2]
    content = records[1]["request"]["messages"][1]["content"]
    content[position : position + 1] = [] if block is None else [block]
    outcomes = check([exchange(each, "test") for each in records])
    assert (rule, Level.MUST) in [(each.rule, each.level) for each in outcomes if each.status is Status.FAILED]


def events() -> list[Any]:
    (record,) = json.loads((folder("fixtures") / "wire" / "messages-stream.json").read_text("utf-8"))
    value: list[Any] = record["response"]
    return value


@given(st.data())
def test_however_the_text_of_a_block_is_split_the_reply_is_the_same(data: st.DataObject) -> None:
    made = events()
    text = made[2]["delta"]["thinking"]
    cuts = sorted({0, len(text), *data.draw(st.sets(st.integers(0, len(text))))})
    pieces = [text[start:end] for start, end in pairwise(cuts)]
    made[2:3] = [{**made[2], "delta": {"type": "thinking_delta", "thinking": piece}} for piece in pieces]
    assembled = assemble(render(made))
    assert assembled.irregularities == ()
    assert assembled.reply == assemble(render(events())).reply


@pytest.mark.parametrize(
    ("changed", "continues"),
    [
        ({}, True),
        ({"delta": {"type": "thinking_delta", "thinking": ""}}, True),
        ({"delta": {"type": "thinking_delta", "thinking": None}}, False),
        ({"delta": {"type": "thinking_delta", "thinking": "a", "estimated_tokens": 1}}, False),
        ({"delta": {"type": "text_delta", "text": "a"}}, False),
        ({"delta": "a"}, False),
        ({"index": 1}, False),
        ({"index": False}, False),
        ({"type": "ping"}, False),
    ],
)
def test_an_event_continues_the_one_before_if_only_its_text_differs(
    changed: dict[str, Any], *, continues: bool
) -> None:
    made = events()
    assembled = assemble(render([*made[:3], {**made[2], **changed}, *made[3:]]))
    assert continues == (3 in assembled.continuing)


def test_each_event_of_a_wrong_shape_is_found_though_it_continues_another() -> None:
    block = [{**event, "index": -1} for event in (events()[1], events()[2], events()[2], events()[4])]
    stream = Exchange(response=render([events()[0], *block, *events()[9:]]), status=200)
    (outcome,) = check(stream, rules="native/event-shape")
    assert [f"/0/response/{number}/index" for number in (1, 2, 3, 4)] == [each.at for each in outcome.findings]
    assert 7 == outcome.judged


@pytest.mark.parametrize("wrong", [False, True])
def test_in_a_conversation_on_two_wires_each_schema_counts_its_own(*, wrong: bool) -> None:
    chat = Exchange(request={"model": "m", "messages": [{"role": "user", "content": 5 if wrong else "Hello"}]})
    stream = Exchange(response=render([*events()[:-1], {"type": "message_stop"}, *[{"type": 5}] * wrong]), status=200)
    judged = {each.rule: each.judged for each in check((chat, stream, chat), rules=("native/event-shape", "shape/*"))}
    assert (2, len(events()) + wrong) == (judged["shape/message"], judged["native/event-shape"])
    assert 0 == judged["shape/response"] == judged["shape/chunk"]


def test_a_stream_adds_up_to_the_reply_that_it_was_made_from() -> None:
    reply = session()[0]["response"]
    lines = [f"event: {each.name}\ndata: {json.dumps(each.value)}\n\n" for each in writing.events(reply)]
    assembled = assemble("".join(lines))
    assert (assembled.irregularities, assembled.complete) == ((), True)
    blocks = assembled.reply["content"] if assembled.reply else []
    inputs = {at: {"input": json.loads(text)} for at, text in assembled.inputs.items()}
    assert [{**block, **inputs.get(at, {})} for at, block in enumerate(blocks)] == reply["content"]


MISPLACED = {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hi"}}


@every(
    ("start", "kind", "number", "words"),
    [
        (lambda made: made[:4] + made[5:], "blocks-overlap", 4,
         "expected block 0 to be stopped first, got the start of 1"),
        (lambda made: made[:5] + made[6:], "block-not-open", 5, "expected a block that is open, got the index 1"),
        (lambda made: [*made, made[1]], "after-stop", 11,
         "expected nothing after message_stop, got 'content_block_start'"),
        (lambda made: made[:8] + made[9:], "block-not-stopped", 8,
         "expected every block to be stopped, got block 1 still open"),
        (lambda made: [*made[:4], {**made[3]}, *made[4:]], "after-signature", 4,
         "expected the signature to be the last delta of its block, got another"),
        (lambda made: [made[0], *made], "second-start", 1, "expected one message_start, got another one"),
        (lambda made: made[1:], "no-start", 0, "expected message_start first, got content_block_start"),
        (lambda made: [*made[:9], made[10]], "no-delta", 9,
         "expected message_delta with the stop_reason before message_stop, got none"),
        (lambda made: [*made[:10], made[1], made[10]], "after-delta", 10,
         "expected no block after message_delta, got the start of 0"),
        (lambda made: [*made[:10], made[1], made[10]], "index-jumps", 10, "expected the index 2, got 0"),
        (lambda made: [*made[:6], {**made[6], "index": "1"}, *made[6:]], "index-missing", 6,
         "expected an index, a whole number, got '1'"),
        (lambda made: [*made[:6], MISPLACED, *made[6:]], "delta-misplaced", 6,
         "expected no text_delta in a block of type 'tool_use', got one"),
    ],
)  # fmt: skip
def test_what_is_irregular_in_a_stream_is_named(start: Any, kind: str, number: int, words: str) -> None:
    found = assemble(render(start(events()))).irregularities
    assert (kind, ("response", number), words) in found


def recorded(shared: Path) -> list[tuple[str, list[Any]]]:
    """Return the recorded conversations of Messages: their name, and their records."""
    found: dict[Any, list[Any]] = {}
    for name in ("messages", "anthropic_native"):
        with gzip.open(shared / "recordings" / f"{name}.jsonl.gz") as lines:
            for number, line in enumerate(lines):
                record = json.loads(line)
                if record["api"] in ("messages", "anthropic") and "/threads/" not in (record["url"] or ""):
                    found.setdefault(record.get("session") or f"{name}:{number}", []).append(record)
    return list(found.items())


@pytest.mark.slow
def test_every_recording_is_recognised_and_judged_and_what_it_breaks_is_explained(shared: Path) -> None:
    unexplained, missed, judged = [], dict(REFUSED), 0
    for _, records in recorded(shared):
        conversation = tuple(exchange(each, "test") for each in records)
        assert {protocol.name for each in conversation if (protocol := wires.of(each))} == {"messages"}
        for outcome in check(conversation):
            assert outcome.status is not Status.ERRORED, outcome
            judged += outcome.judged
            for finding in outcome.findings:
                record = records[int(finding.at.split("/")[1])]
                if missed.get(record["ref"]) == outcome.rule:
                    del missed[record["ref"]]
                is_clients = finding.side == "client" and finding.level is Level.MUST
                if is_clients and record["status"] == 200 and (record["ref"], outcome.rule) not in TOLERATED:
                    unexplained.append((record["ref"], outcome.rule, finding.message))
    assert unexplained == []
    assert missed == {}
    assert judged > 20_000


TOOL = {"name": "get_weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["plain", "stream"])
def test_the_sdk_of_anthropic_plays_a_tool_turn_and_gets_the_refusal(variant: str) -> None:
    anthropic = pytest.importorskip("anthropic")
    with (
        simulated(load_profile("anthropic")) as url,
        anthropic.Anthropic(base_url=url, api_key="unused", max_retries=0) as client,
    ):
        asking = {
            "model": "claude-sonnet-4-6",
            "max_tokens": 4096,
            "thinking": {"type": "enabled", "budget_tokens": 2048},
            "tools": [TOOL],
        }

        def ask(messages: list[Any]) -> Any:
            if variant == "plain":
                return client.messages.create(messages=messages, **asking)
            with client.messages.stream(messages=messages, **asking) as streamed:
                return streamed.get_final_message()

        question = {"role": "user", "content": scenario_question("one-tool-call")}
        reply = ask([question])
        assert [block.type for block in reply.content] == ["thinking", "tool_use"]
        call = reply.content[-1]
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "18"}]}
        kept = [block.model_dump(exclude_none=True, exclude={"parsed_output", "caller"}) for block in reply.content]
        assert ask([question, {"role": "assistant", "content": kept}, result]).stop_reason == "end_turn"
        with pytest.raises(anthropic.BadRequestError, match="Expected `thinking` or `redacted_thinking`"):
            ask([question, {"role": "assistant", "content": kept[1:]}, result])


def scenario_question(name: str) -> str:
    from conformance import scenarios

    return str(scenarios.load(name).turns[0].user)


def test_the_client_speaks_messages_and_returns_chat_completions() -> None:
    with simulated(load_profile("anthropic")) as url, Client(Endpoint(f"{url}/v1", wire="messages")) as client:
        asked = {"model": "claude-sonnet-4-6", "messages": [{"role": "user", "content": "Say hello."}]}
        answered = client.send(asked)
    assert answered.protocol == "messages"
    assert answered.response["choices"][0]["message"]["content"]
    assert isinstance(answered, Exchange)
