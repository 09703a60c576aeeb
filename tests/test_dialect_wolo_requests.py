"""What wolo sends, as documented and as valid on the wire, its streams, and the compaction of sessions."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import judge
from conformance.convert.dialects import CANONICAL, wolo
from conformance.convert.dialects.wolo import compaction, requests
from conformance.errors import Unusable
from conformance.results import Status
from conformance.schemas import validator
from conformance.wire.exchange import Exchange
from tests.drawn_wolo import message, part, sessions, valid

CALL = {"id": "call_0", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("read", "write", "shell")]


def broken(*exchanges: Exchange) -> dict[str, list[str]]:
    """Return the rules that a conversation breaks, and where."""
    outcomes = judge.check(exchanges)
    assert [] == [each for each in outcomes if each.status is Status.ERRORED]
    return {each.rule: [found.at for found in each.findings] for each in outcomes if each.status is Status.FAILED}


def asked(messages: list[dict[str, Any]], reply: dict[str, Any] | None = None) -> Exchange:
    """Return an exchange of a request with these messages, and its reply if there is one."""
    reason = "tool_calls" if reply and "tool_calls" in reply else "stop"
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1767225600,
        "model": "m",
        "choices": [{"index": 0, "message": reply, "finish_reason": reason}],
    }
    request = {"model": "m", "messages": messages, "tools": TOOLS}
    return Exchange(request, body if reply else None, 200 if reply else None)


SESSION = [
    message("user", text="Read a."),
    message("assistant", part(0), text="I read.", reasoning="The tool knows."),
    message("assistant", text="It says A."),
]


def test_what_is_sent_is_as_documented() -> None:
    expected = [
        {"role": "system", "content": "You are Ada. Be brief."},
        {"role": "user", "content": "Read a."},
        {"role": "assistant", "content": "I read.", "tool_calls": [CALL], "reasoning_content": "The tool knows."},
        {"role": "tool", "tool_call_id": "call_0", "content": "A"},
        {"role": "assistant", "content": "It says A."},
    ]
    assert expected == wolo.to_llm_messages(SESSION, "You are Wolo. Be brief.", "Ada", thinking=True)
    assert expected == wolo.to_wire_messages(SESSION, "You are Wolo. Be brief.", "Ada")


def test_a_system_prompt_of_the_session_is_unchanged() -> None:
    own = [message("system", text="You are Wolo."), *SESSION]
    assert ["You are Wolo."] == [
        each["content"] for each in wolo.to_wire_messages(own, "other", "Ada") if each["role"] == "system"
    ]
    assert "You are Wolo." == wolo.to_llm_messages(own, "other", "Ada")[0]["content"]
    assert requests.SYSTEM_PROMPT == wolo.to_llm_messages(SESSION)[0]["content"]


def test_the_injected_system_prompt_is_that_of_the_document() -> None:
    line = "You are Wolo, an AI coding agent that helps users with software engineering tasks."
    for send in (wolo.to_llm_messages, wolo.to_wire_messages):
        assert {"role": "system", "content": line} == send(SESSION)[0]
        assert send(SESSION, display_name="CodeHelper")[0]["content"].startswith(
            "You are CodeHelper, an AI coding agent"
        )


def test_texts_are_joined_and_an_empty_assistant_message_is_left_out() -> None:
    two = message("user", {"id": "t2", "type": "text", "text": "b"}, text="a")
    sent = wolo.to_llm_messages([two, message("assistant"), message("assistant", part(0, "failed"))])
    assert [{"role": "user", "content": "a\nb"}] == sent[1:]


@pytest.mark.parametrize(
    ("session", "thinking", "expected"),
    [
        (SESSION, True, {}),
        (
            [*SESSION[:2], message("assistant", text="It says A.", reasoning="Say it.")],
            True,
            {"reasoning/dropped-on-plain-turns": ["/0/request/messages/4/reasoning_content"]},
        ),
        (
            [SESSION[0], message("assistant", part(0, "pending"))],
            False,
            {"transcript/calls-answered": ["/0/request/messages/2/tool_calls/0"]},
        ),
        (
            [SESSION[0], message("assistant", part(0), part(1, "running"))],
            False,
            {"transcript/calls-answered": ["/0/request/messages/2/tool_calls/1"]},
        ),
    ],
)
def test_the_documented_messages_break_rules_and_the_wire_messages_do_not(
    session: list[Any], thinking: Any, expected: dict[str, list[str]]
) -> None:
    assert expected == broken(asked(wolo.to_llm_messages(session, thinking=thinking)))
    assert {} == broken(asked(wolo.to_wire_messages(session)))


REPLY = {"role": "assistant", "content": "", "tool_calls": [CALL, {**CALL, "id": "call_1"}]}
REPEATED = "tool-calls/call-not-repeated"
"""The calls of that reply have the same arguments, as those of the session have."""


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([part(0, "failed", "no such file"), part(1)], {"transcript/reply-resent-unchanged"}),
        ([part(0, "failed", "no such file"), part(1, "failed", "")], set()),
    ],
)
def test_a_failed_call_that_is_filtered_is_missing_from_the_reply_that_made_it(
    parts: list[dict[str, Any]], expected: set[str]
) -> None:
    session = [SESSION[0], message("assistant", *parts)]
    first = asked(wolo.to_llm_messages(session[:1]), REPLY)
    documented = wolo.to_llm_messages(session)
    assert expected == set(broken(first, asked(documented))) - {REPEATED}
    assert "no such file" not in json.dumps(documented)
    sent = wolo.to_wire_messages(session)
    assert {REPEATED} == set(broken(first, asked(sent)))
    assert ["no such file", parts[1]["output"] or requests.FAILED] == [each["content"] for each in sent[3:]]


def test_an_error_in_context_without_its_call_answers_no_call() -> None:
    session = [SESSION[0], message("assistant", part(0), part(1, "failed", "no such file"))]
    error = {"role": "tool", "tool_call_id": "call_1", "content": "no such file"}
    sent = [*wolo.to_llm_messages(session), error]
    assert "transcript/result-answers-call" in broken(asked(sent))


def test_without_thinking_mode_the_reasoning_of_tool_turns_is_left_out() -> None:
    reply = {"role": "assistant", "content": "I read.", "reasoning_content": "The tool knows.", "tool_calls": [CALL]}
    first = asked(wolo.to_llm_messages(SESSION[:1]), reply)
    assert {"reasoning/resent-on-tool-turns"} == set(broken(first, asked(wolo.to_llm_messages(SESSION[:2]))))
    assert {} == broken(first, asked(wolo.to_wire_messages(SESSION[:2])))


def test_text_after_the_results_is_sent_as_a_reply_of_its_own() -> None:
    on = message(
        "assistant", part(0), {"id": "t2", "type": "text", "text": "It says A."}, text="I read.", reasoning="R"
    )
    roles = [(each["role"], each["content"]) for each in wolo.to_wire_messages([SESSION[0], on])[2:]]
    assert [("assistant", "I read."), ("tool", "A"), ("assistant", "It says A.")] == roles
    assert [("assistant", "I read.\nIt says A."), ("tool", "A")] == [
        (each["role"], each["content"]) for each in wolo.to_llm_messages([SESSION[0], on])[2:]
    ]


@given(sessions)
def test_the_wire_messages_of_any_session_break_no_rule(native: list[Any]) -> None:
    before = copy.deepcopy(native)
    assert {} == broken(asked(valid(wolo.to_wire_messages(native), CANONICAL)))
    valid(wolo.to_llm_messages(native, thinking=True), CANONICAL)
    assert before == native


def test_headers_are_those_of_the_document() -> None:
    expected = {
        "User-Agent": "opencode/1.0.0 (Linux x86_64)",
        "x-opencode-project": "my-project",
        "x-opencode-session": "session_123",
        "x-opencode-request": "user",
        "x-opencode-client": "cli",
    }
    assert expected == wolo.request_headers("my-project", "session_123")


FRESH: dict[str, Any] = {"id": "m", "role": "assistant", "parts": [], "timestamp": 1.0}
EVENTS: list[dict[str, Any]] = [
    {"type": "text-delta", "text": "I re"},
    {"type": "text-delta", "text": "ad."},
    {"type": "tool-call", "id": "call_0", "tool": "read", "input": {"path": "a"}},
    {"type": "text-delta", "text": "Then more."},
    {"type": "finish", "finish_reason": "tool_calls"},
]


def test_events_make_a_message() -> None:
    grown = FRESH
    for event in EVENTS:
        assert validator("dialects/wolo#/$defs/event").is_valid(event)
        before = copy.deepcopy(grown)
        later = wolo.apply(grown, event)
        assert before == grown
        [grown] = valid([later], "wolo")
    call = {"id": "call_0", "type": "tool", "tool": "read", "input": {"path": "a"}, "status": "pending"}
    text = {"id": "m_text_1", "type": "text", "text": "I read."}
    more = {"id": "m_text_2", "type": "text", "text": "Then more."}
    assert {**FRESH, "parts": [text, call, more], "finished": True, "finish_reason": "tool_calls"} == grown


@pytest.mark.parametrize(
    ("given_message", "event", "match"),
    [
        ({**FRESH, "finished": True}, EVENTS[0], "is finished; no text-delta may follow"),
        (FRESH, {"type": "error"}, "unknown event error: expected text-delta, tool-call or finish"),
    ],
)
def test_an_event_that_cannot_follow_is_refused(given_message: Any, event: Any, match: str) -> None:
    with pytest.raises(Unusable, match=match):
        wolo.apply(given_message, event)


def test_a_call_has_its_start_and_end_times() -> None:
    begun = wolo.advance({**FRESH, "parts": [part(0, "pending", "")]}, "call_0", "running", at=2.0)
    done = wolo.advance(begun, "call_0", "completed", "A", at=3.5)
    assert {**part(0), "start_time": 2.0, "end_time": 3.5} == done["parts"][0]
    assert "running" == begun["parts"][0]["status"]


STATES = ("pending", "running", "completed", "failed")
LEGAL = {("pending", "running"), ("running", "completed"), ("running", "failed")}


@pytest.mark.parametrize(("old", "new"), [(old, new) for old in STATES for new in STATES])
def test_only_the_documented_transitions_are_made(old: str, new: str) -> None:
    before = {**FRESH, "parts": [part(0, old)]}
    if (old, new) in LEGAL:
        assert new == wolo.advance(before, "call_0", new)["parts"][0]["status"]
    else:
        with pytest.raises(Unusable, match=f"the call call_0 cannot become {new}: it is {old}"):
            wolo.advance(before, "call_0", new)


def test_of_calls_that_share_an_id_the_first_possible_one_advances() -> None:
    twice = {**FRESH, "parts": [part(0), part(0, "pending")]}
    assert ["completed", "running"] == [each["status"] for each in wolo.advance(twice, "call_0", "running")["parts"]]
    with pytest.raises(Unusable, match="call_9 cannot become running: it is not in the message"):
        wolo.advance(twice, "call_9", "running")


def size(messages: Any) -> int:
    return len(json.dumps(messages))


def summary(messages: Any) -> str:
    return f"{len(messages)} messages"


LONG = message("assistant", part(0, output="A" * 500), part(1, "failed", "E" * 500))
OLD = [message("system", text="S"), SESSION[0], LONG, message("user", text="And?"), message("assistant", text="Yes.")]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (10_000, ["S", "Read a.", "A" * 500, "E" * 500, "And?", "Yes."]),
        (1600, ["S", "Read a.", compaction.PRUNED, "E" * 500, "And?", "Yes."]),
        (800, ["S", "2 messages", "And?", "Yes."]),
    ],
)
def test_a_session_is_shortened_only_as_far_as_necessary(limit: int, expected: list[str]) -> None:
    before = copy.deepcopy(OLD)
    shorter = wolo.compact(OLD, limit, size, summary, spare=2)
    assert expected == [each.get("text") or each["output"] for one in shorter for each in one["parts"]]
    assert before == OLD
    valid(shorter, "wolo")


def test_the_metadata_record_what_was_done() -> None:
    assert {"compaction": {"pruned": ["call_0"]}} == wolo.prune(OLD, 2)[2]["metadata"]
    assert {"compaction": {"summarised": ["m", "m"]}} == wolo.summarise(OLD, summary, 2)[1]["metadata"]


def test_a_call_that_has_not_ended_stays_with_everything_after_it() -> None:
    waiting = [SESSION[0], message("assistant", part(0, "running", "")), *OLD[1:]]
    assert ["1 messages", "call_0"] == [
        one["parts"][0].get("text", one["parts"][0]["id"]) for one in wolo.summarise(waiting, summary, 1)[:2]
    ]


def parts_of(session: Any) -> list[tuple[str, str, bool]]:
    """Return each call of a session with its state and whether it has a result."""
    return [
        (each["id"], each.get("status", "pending"), bool(each.get("output")))
        for one in session
        for each in one["parts"]
        if one["role"] == "assistant" and each["type"] == "tool"
    ]


@given(sessions, st.integers(0, 3000), st.integers(0, 4))
def test_no_call_loses_its_result_when_a_session_is_shortened(native: list[Any], limit: int, spare: int) -> None:
    before = copy.deepcopy(native)
    shorter = valid(wolo.compact(native, limit, size, summary, spare), "wolo")
    assert before == native
    remaining = parts_of(shorter)
    assert parts_of(native)[len(parts_of(native)) - len(remaining) :] == remaining
    waiting = [each for each in parts_of(native) if each[1] in ("pending", "running")]
    assert waiting == [each for each in remaining if each[1] in ("pending", "running")]
    assert native[len(native) - spare :] == shorter[len(shorter) - spare :] or len(native) < spare
    assert {} == broken(asked(wolo.to_wire_messages(shorter)))
