"""Which messages send replies back, and which request continues which."""

import copy
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance import rules
from conformance.formats.records import exchange
from conformance.judge import check
from conformance.results import Level, Status
from conformance.wire.changes import LOST, MOVED, REWRITTEN
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index
from tests.loops import every

SYSTEM = {"role": "system", "content": "You are a weather bot."}
OF_SESSIONS = rules.select(["transcript/history-*", "transcript/no-user-*", "transcript/reply-*"])


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def called(*calls: tuple[str, str]) -> dict[str, Any]:
    made = [
        {"id": identity, "type": "function", "function": {"name": "get_weather", "arguments": arguments}}
        for identity, arguments in calls
    ]
    return {"role": "assistant", "content": "", "tool_calls": made}


def result(identity: str, text: str = "18") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": text}


def asked(messages: list[Any], reply: dict[str, Any] | None) -> Exchange:
    body = None if reply is None else {"choices": [{"index": 0, "message": reply, "finish_reason": "stop"}]}
    return Exchange({"model": "m", "messages": messages}, body, 200)


def session(*turns: dict[str, Any]) -> Conversation:
    """Return the exchanges of a session: one for each assistant message, with what stands before it as the request."""
    return tuple(asked(list(turns[:number]), turn) for number, turn in enumerate(turns) if turn["role"] == "assistant")


def returned(conversation: Conversation) -> list[tuple[int, int, int]]:
    """Return which reply (by its exchange) comes back in which request, and at which position."""
    return [(found.reply.place[0], found.place[0], found.place[3]) for found in Index(conversation).resent]  # type: ignore[misc]


def links(conversation: Conversation) -> dict[int, int]:
    return {int(found.place[0]): found.earlier for found in Index(conversation).continuations}


def changes(before: list[Any], after: list[Any], reply: dict[str, Any]) -> list[tuple[str, int, int | None]]:
    (continuation,) = Index((asked(before, reply), asked(after, None))).continuations
    return [(change.kind, change.number, change.at) for change in continuation.changes]


A, B = user("Weather in Paris?"), user("And in Rome?")
PARIS, ROME = called(("call_0", '{"city": "Paris"}')), called(("call_0", '{"city": "Rome"}'))
SESSION = session(SYSTEM, A, PARIS, result("call_0"), said("18 degrees."), B, ROME, result("call_0", "24"), said("24."))


def test_replies_with_repeated_ids_are_distinguished_by_position() -> None:
    assert [(0, 1, 2), (0, 2, 2), (0, 3, 2), (1, 2, 4), (1, 3, 4), (2, 3, 6)] == returned(SESSION)


def test_each_request_continues_the_one_before_it() -> None:
    assert {1: 0, 2: 1, 3: 2} == links(SESSION)
    assert [] == [found.changes for found in Index(SESSION).continuations if found.changes]


def test_interleaved_conversations_are_distinguished() -> None:
    other = session(SYSTEM, B, ROME, result("call_0", "24"), said("24."))
    mixed = tuple(each for pair in zip(SESSION[:2], other, strict=True) for each in pair)
    assert {2: 0, 3: 1} == links(mixed)


def test_of_repeated_requests_the_one_whose_reply_comes_back_is_continued() -> None:
    first, second = called(("call_a", '{"city": "Paris"}')), called(("call_b", '{"city": "Paris, France"}'))
    conversation = (asked([A], first), asked([A], second), asked([A, first, result("call_a")], said("18.")))
    assert {2: 0} == links(conversation)
    assert [(0, 2, 1)] == returned(conversation)


def test_a_message_sends_back_one_of_two_equal_replies() -> None:
    conversation = (asked([A], PARIS), asked([A], PARIS), asked([A, PARIS, result("call_0")], said("18.")))
    assert [(1, 2, 1)] == returned(conversation)


def test_a_message_with_the_id_of_another_reply_does_not_send_back_an_equal_one() -> None:
    first, second = called(("call_a", '{"city": "Paris"}')), called(("call_b", '{"city": "Paris"}'))
    again = [second, result("call_b"), B, second, result("call_b")]
    assert [(1, 2, 4)] == returned((asked([A], first), asked([A, said("Hm."), B], second), asked([A, *again], None)))


def test_unrelated_conversations_with_equal_replies_are_not_linked() -> None:
    for before in ([], [SYSTEM]):
        later = [*before, B, said("Yes."), user("Why?")]
        assert {} == links((asked([*before, A], said("Yes.")), asked(later, None)))


@pytest.mark.parametrize(
    ("back", "found"),
    [
        (called(("call_a", '{"city":"Paris"}'), ("call_b", '{"city":"Rome"}')), True),
        (called(("call_b", '{"city": "Rome"}'), ("call_a", '{"city": "Paris"}')), True),
        (called(("call_b", '{"city": "Rome"}')), True),
        (called(("new_1", '{"city": "Paris"}'), ("new_2", '{"city": "Rome"}')), True),
        (called(("call_a", "{}"), ("call_b", "{}")), True),
        (called(("new_1", '{"city": "Oslo"}'), ("new_2", '{"city": "Bonn"}')), False),
        (said("Calling get_weather."), False),
    ],
)
def test_a_changed_reply_is_recognized_if_it_is_similar_enough(back: dict[str, Any], found: bool) -> None:  # noqa: FBT001
    reply = called(("call_a", '{"city": "Paris"}'), ("call_b", '{"city": "Rome"}'))
    assert found is bool(returned((asked([A], reply), asked([A, back], None))))


HISTORY = [SYSTEM, A, said("18 degrees."), B]
ANSWER = said("It is 24 degrees in Rome, a mild evening.")


@every(
    ("after", "expected"),
    [
        (HISTORY, []),
        ([user("x") if each is SYSTEM else each for each in HISTORY], [(LOST, 0, None)]),
        ([{"role": "system", "content": "New."}, *HISTORY[1:]], [(REWRITTEN, 0, 0)]),
        (HISTORY[1:], [(LOST, 0, None)]),
        ([SYSTEM, *HISTORY[2:]], [(LOST, 1, None)]),
        ([SYSTEM, A, B], [(LOST, 2, None)]),
        ([SYSTEM, A, said("Mild."), B], [(REWRITTEN, 2, 2)]),
        ([SYSTEM, B, A, said("18 degrees.")], [(MOVED, 3, 1)]),
        ([SYSTEM, A, user("Well?"), said("18 degrees."), B], []),
        ([SYSTEM, B], [(LOST, 1, None), (LOST, 2, None)]),
        ([SYSTEM, {"role": "user", "content": [{"type": "text", "text": A["content"]}]}, *HISTORY[2:]], []),
        ([SYSTEM, A, {**said("18 degrees."), "reasoning_content": "Mild."}, B], []),
        ([SYSTEM, user("[now] Weather in Paris?"), *HISTORY[2:]], [(REWRITTEN, 1, 1)]),
    ],
)
def test_changes_of_a_history_are_found(after: list[Any], expected: list[tuple[str, int, int | None]]) -> None:
    assert expected == changes(HISTORY, [*after, ANSWER, user("Thanks.")], ANSWER)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([SYSTEM, said("18 degrees."), B], {"transcript/no-user-message-lost": Level.MUST}),
        (
            [SYSTEM, B],
            {"transcript/no-user-message-lost": Level.SHOULD, "transcript/history-append-only": Level.SHOULD},
        ),
    ],
)
def test_a_user_message_lost_with_its_reply_is_a_should(after: list[Any], expected: dict[str, Level]) -> None:
    conversation = (asked(HISTORY, ANSWER), asked([*after, ANSWER, user("Thanks.")], None))
    outcomes = check(conversation, None, OF_SESSIONS)
    assert expected == {each.rule: each.level for each in outcomes if each.status is Status.FAILED}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["user", "assistant", "tool", "call_0", "{}", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["role", "content", "id"]), inner),
    max_leaves=5,
)
MESSAGES = st.lists(st.sampled_from([SYSTEM, A, B, PARIS, ROME, result("call_0"), said("18.")]) | VALUES, max_size=6)


@given(st.lists(st.tuples(MESSAGES, st.sampled_from([PARIS, ROME, said("18."), None])), max_size=5))
def test_no_conversation_makes_a_rule_raise(exchanges: list[tuple[list[Any], dict[str, Any] | None]]) -> None:
    conversation = tuple(asked(copy.deepcopy(messages), reply) for messages, reply in exchanges)
    outcomes = check(conversation, None, OF_SESSIONS)
    assert [] == [each.reason for each in outcomes if each.status is Status.ERRORED]


def captured(shared: Path, name: str, variant: str) -> Conversation:
    with gzip.open(shared / "captures" / f"{name}.jsonl.gz") as lines:
        records = [json.loads(line) for line in lines]
    record = next(each for each in records if each["variant"] == variant)
    return tuple(exchange(each, name) for each in record["exchanges"])


@pytest.mark.parametrize(
    ("name", "variant", "expected"),
    [
        ("openai-sdk-obj@3.52.0", "a_normal", {}),
        ("smolagents-openai@1.26.0", "a_normal", {"transcript/reply-resent": Level.MUST}),
        ("pydantic-ai-openai@2.68.0", "a_normal", {"transcript/reply-resent-unchanged": Level.SHOULD}),
        ("pydantic-ai-openai@2.68.0", "f_badjson", {"transcript/reply-resent-unchanged": Level.MUST}),
        ("aisdk-compat@3.0.92", "f_badjson", {"transcript/reply-resent-unchanged": Level.MUST}),
        ("langchain-mistral@1.1.6", "a_normal", {"transcript/reply-resent-unchanged": Level.MUST}),
    ],
)
def test_changes_that_real_clients_make_to_replies_are_found(
    shared: Path, name: str, variant: str, expected: dict[str, Level]
) -> None:
    # Only the turns of the first user message: some drivers rebuild the history between users.
    outcomes = check(captured(shared, name, variant)[:3], None, OF_SESSIONS)
    assert expected == {each.rule: each.level for each in outcomes if each.status is Status.FAILED}


def test_no_real_session_loses_a_user_message_or_changes_its_history(shared: Path) -> None:
    sessions: dict[str, list[Exchange]] = {}
    with gzip.open(shared / "recordings" / "sessions.jsonl.gz") as lines:
        for line in lines:
            record = json.loads(line)
            sessions.setdefault(record["session"], []).append(exchange(record, "sessions"))
    outcomes = [each for session in sessions.values() for each in check(tuple(session), None, OF_SESSIONS)]
    found = Counter((each.rule, each.level) for each in outcomes if each.status is Status.FAILED)
    assert {"transcript/reply-resent-unchanged"} == {rule for rule, _ in found}


IN_PARIS, IN_ROME, IN_OSLO = '{"city": "Paris"}', '{"city": "Rome"}', '{"city": "Oslo"}'
ASKED, FIRST, SECOND = user("Weather?"), called(("call_0", IN_PARIS)), called(("call_0", IN_ROME))
BOTH = called(("call_0", IN_PARIS), ("call_1", IN_ROME))
GONE = "expected the call get_weather {} with {}, got it missing: its id was used again"
REUSED: dict[str, tuple[list[Any], dict[str, Any], list[Any], list[str]]] = {
    "the last of each id is kept": (
        [ASKED, FIRST, result("call_0")], SECOND, [ASKED, SECOND, result("call_0", "24")],
        [GONE.format(IN_PARIS, "the result '18'")],
    ),
    "the second call of a turn is overwritten": (
        [ASKED, BOTH, result("call_0"), result("call_1", "24")], called(("call_1", IN_OSLO)),
        [ASKED, FIRST, result("call_0"), called(("call_1", IN_OSLO)), result("call_1", "7")],
        [GONE.format(IN_ROME, "the result '24'")],
    ),
    "one of two calls with one id is dropped": (
        [ASKED], called(("x", IN_PARIS), ("x", IN_ROME)), [ASKED, called(("x", IN_PARIS)), result("x")],
        [GONE.format(IN_ROME, "its result")],
    ),
    "nothing is gone": ([ASKED, FIRST, result("call_0")], SECOND, [ASKED, FIRST, result("call_0"), SECOND], []),
}  # fmt: skip


@every("name", REUSED)
def test_a_call_whose_id_was_used_again_is_reported_with_its_arguments_and_its_result(name: str) -> None:
    before, reply, after, expected = REUSED[name]
    earlier = () if len(before) == 1 else (asked([ASKED], before[1]),)
    outcomes = check((*earlier, asked(before, reply), asked(after, said("Done."))), rules=OF_SESSIONS)
    found = [each.message for outcome in outcomes for each in outcome.findings]
    assert expected == [each for each in found if "used again" in each]
    assert [] == [each for each in found if "split" in each]


def test_a_reply_that_really_comes_back_split_is_still_called_split() -> None:
    parts = [FIRST, result("call_0"), called(("call_1", IN_ROME)), result("call_1")]
    outcomes = check((asked([ASKED], BOTH), asked([ASKED, *parts], said("Done."))), rules=OF_SESSIONS)
    found = [each.message for outcome in outcomes for each in outcome.findings]
    assert ["expected the reply in one message, got it split into messages 1 and 3"] == found


def plain_texts(*conversation: Exchange) -> list[str]:
    """Return what is found about changed content."""
    outcomes = check(conversation, rules=["transcript/reply-resent-unchanged"])
    return [each.message for outcome in outcomes for each in outcome.findings]


FRANCE = said("Paris is the capital of France.")
GIVEN = asked([SYSTEM, ASKED], FRANCE)
NEXT = user("And Rome?")


@every("text", ["Paris.", "", "Paris is the capital", "[bot] Paris is the capital of France.", "paris is the capital"])
def test_a_plain_reply_that_comes_back_changed_is_recognized_by_its_position(text: str) -> None:
    (found,) = plain_texts(GIVEN, asked([SYSTEM, ASKED, said(text), NEXT], said("Rome.")))
    assert found.startswith("expected content ")
    later = asked([SYSTEM, ASKED, FRANCE, NEXT], said("Rome."))
    assert 1 == len(plain_texts(GIVEN, later, asked([SYSTEM, ASKED, said(text), NEXT, said("Rome."), ASKED], None)))


OTHERS: dict[str, list[Exchange]] = {
    "a summary": [asked([SYSTEM, user("Summary: we spoke of Paris."), said("Go on."), NEXT], None)],
    "a shortened history": [asked([SYSTEM, NEXT, said("Rome."), ASKED], None)],
    "a regenerated reply": [GIVEN, asked([SYSTEM, ASKED, said("Another."), NEXT], None)],
    "another session": [asked([SYSTEM, NEXT, said("Rome."), ASKED], None)],
    "another system prompt": [asked([user("You are a poet."), ASKED, said("O Paris!"), NEXT], None)],
    "the beginning of the next reply": [asked([SYSTEM, ASKED, said("Paris is")], None)],
    "without its tags": [asked([SYSTEM, ASKED, FRANCE, NEXT], None)],
}


@every("name", OTHERS)
def test_another_message_at_that_position_is_not_the_reply(name: str) -> None:
    assert [] == plain_texts(GIVEN, *OTHERS[name])


def test_sessions_whose_replies_are_all_changed_take_time_in_proportion_to_their_size() -> None:
    turns: list[dict[str, Any]] = [SYSTEM]
    for number in range(40):
        turns += [user(f"Question {number}"), said(f"Answer {number}")]
    changed = [said(each["content"].lower()) if each["role"] == "assistant" else each for each in turns]
    conversation = tuple(asked(changed[:at], turns[at]) for at in range(2, len(turns), 2))
    assert sum(range(40)) == len(returned(conversation))
