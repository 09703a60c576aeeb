"""Egress of calls and results: accepted ids, one result per call in order, readable arguments."""

import re
from typing import Any

import pytest

from conformance.convert import egress

REFUSED = {"status": 400, "message": "no"}
NINE = {"ids.input-pattern": {"pattern": "[a-zA-Z0-9]{9}", "refusal": REFUSED}}
FORTY = {"ids.input-max-length": {"limit": 40, "refusal": REFUSED}}
Message = dict[str, Any]


def call(identity: Any, name: str = "f", arguments: str = "{}") -> Message:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def turn(*calls: Message) -> Message:
    return {"role": "assistant", "content": "", "tool_calls": list(calls)}


def result(identity: str, content: str = "18") -> Message:
    return {"role": "tool", "tool_call_id": identity, "content": content}


def turns(*ids: str) -> list[Message]:
    """Return a transcript in which each id is called and answered in a turn of its own."""
    return [message for each in ids for message in (turn(call(each)), result(each))]


def called(messages: list[Message]) -> list[str]:
    return [each["id"] for message in messages for each in message.get("tool_calls", ())]


def answered(messages: list[Message]) -> list[str]:
    return [message["tool_call_id"] for message in messages if message["role"] == "tool"]


def result_texts(messages: list[Message]) -> list[str]:
    return [message["content"] for message in messages if message["role"] == "tool"]


@pytest.mark.parametrize(
    ("own", "claims", "pattern"),
    [
        ("call_0", NINE, "[a-zA-Z0-9]{9}"),
        ("call_" + 40 * "x", FORTY, "call_[A-Za-z0-9]{24}"),
        ("call_" + 40 * "x", FORTY | {"ids.format": "[a-z]{6}"}, "[a-z]{6}"),
        ("toolu_1", {"ids.foreign": "damaged", "ids.format": r"functions\.[a-z]+:\d+"}, r"functions\.f:0"),
        ("toolu_1", {"ids.foreign": REFUSED, "ids.format": ["[a-z]{3}", "[0-9]{3}"]}, "[a-z]{3}"),
        ("", {"ids.empty-in-request": REFUSED}, "call_[A-Za-z0-9]{24}"),
        (None, {}, "call_[A-Za-z0-9]{24}"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_id_that_is_rejected_is_replaced(own: Any, claims: dict[str, Any], pattern: str) -> None:
    prepared = egress.prepare([turn(call(own)), result(own or "")], claims)
    (sent,) = called(prepared.messages)
    assert re.fullmatch(pattern, sent)
    assert [sent] == answered(prepared.messages)
    assert ["18"] == result_texts(prepared.messages)
    assert (egress.Identity(0, 0, own or "", sent),) == prepared.ids


@pytest.mark.parametrize(
    ("own", "claims"),
    [
        ("a1B2c3D4e", NINE),
        ("call_0", FORTY),
        ("call_0", {"ids.input-pattern": {"pattern": "[a-z]", "refusal": "accepted"}}),
        ("f:7", {"ids.foreign": "damaged", "ids.format": "[a-z]+:[0-9]+"}),
        ("toolu_1", {"ids.foreign": "damaged", "ids.format": "unknown"}),
        ("", {}),
        ("", {"ids.empty-in-request": "accepted"}),
    ],
)
def test_an_id_that_is_accepted_stays(own: str, claims: dict[str, Any]) -> None:
    prepared = egress.prepare(turns(own), claims)
    assert turns(own) == prepared.messages
    assert () == prepared.notes


@pytest.mark.parametrize(
    ("claim", "transcript", "kept"),
    [
        ("ids.duplicate-in-request", turns("c", "c", "d"), [True, False, True]),
        ("ids.duplicate-in-message", [turn(call("c"), call("c")), result("c"), result("c")], [True, False]),
        ("ids.duplicate-in-message", turns("c", "c"), [True, True]),
    ],
)
def test_the_first_of_calls_that_share_an_id_keeps_it(claim: str, transcript: list[Message], kept: list[bool]) -> None:
    sent = egress.prepare(transcript, {claim: REFUSED}).messages
    assert kept == [new == own for new, own in zip(called(sent), called(transcript), strict=True)]
    assert called(sent) == answered(sent)


def test_ids_that_cannot_be_made_unique_stay_and_are_noted() -> None:
    claims = {"ids.input-pattern": {"pattern": "[a]", "refusal": REFUSED}}
    prepared = egress.prepare(turns("x", "y"), claims)
    assert ["a", "y"] == called(prepared.messages)
    assert [("/2/tool_calls/0/id", "ids.input-pattern")] == [(note.pointer, note.claim) for note in prepared.unfixed]


PAIR = turn(call("a"), call("b"))


@pytest.mark.parametrize(
    ("transcript", "expected", "claims"),
    [
        ([PAIR, result("a", "1"), result("b", "2")], ["1", "2"], []),
        ([PAIR, result("b", "2"), result("a", "1")], ["1", "2"], ["results.reversed"]),
        ([PAIR, result("a", "1")], ["1", egress.NO_RESULT], ["results.missing"]),
        ([PAIR], [egress.NO_RESULT, egress.NO_RESULT], ["results.missing", "results.missing"]),
        ([PAIR, result("a", "1"), result("a", "3"), result("b", "2")], ["1", "2"], ["results.duplicated"]),
        ([PAIR, result("a", "1"), result("c", "3"), result("b", "2")], ["1", "2"], ["results.unknown-id"]),
        ([result("a", "0"), PAIR, result("a", "1"), result("b", "2")], ["1", "2"], ["results.orphaned"]),
        ([turn(call("a"), call("a")), result("a", "1"), result("a", "2")], ["1", "2"], []),
        ([*turns("a"), turn(call("a")), result("a", "2")], ["18", "2"], []),
        (
            [turn(call("a")), turn(call("b")), result("b", "2"), result("a", "1")],
            ["1", "2"],
            ["results.not-adjacent"],
        ),
    ],
)
def test_every_call_has_one_result_in_the_order_of_the_calls(
    transcript: list[Message], expected: list[str], claims: list[str]
) -> None:
    prepared = egress.prepare(transcript, {})
    assert expected == result_texts(prepared.messages)
    assert called(prepared.messages) == answered(prepared.messages)
    assert claims == [note.claim for note in prepared.notes]


def test_several_calls_are_sent_one_by_one_if_the_provider_rejects_them_together() -> None:
    both = {**turn(call("a"), call("b")), "content": "Two.", "reasoning_content": "Look."}
    transcript = [both, result("b", "24"), result("a", "18")]
    together = egress.prepare(transcript, {})
    assert ["a", "b"] == [each["id"] for each in together.messages[0]["tool_calls"]]
    apart = egress.prepare(transcript, {"request.several-calls": {"status": 400}})
    assert ["assistant", "tool", "assistant", "tool"] == [message["role"] for message in apart.messages]
    assert ["a", "b"] == called(apart.messages) == answered(apart.messages)
    assert ["18", "24"] == result_texts(apart.messages)
    assert ["Two.", ""] == [message["content"] for message in apart.messages[::2]]
    assert [True, False] == ["reasoning_content" in message for message in apart.messages[::2]]
    assert "/0/tool_calls" in [note.pointer for note in apart.notes]
    assert [0, 2, 0, 1] == list(apart.origins)


def test_a_late_result_is_moved_directly_after_its_call() -> None:
    user = {"role": "user", "content": "Wait."}
    assert [turn(call("a")), result("a"), user] == egress.prepare([turn(call("a")), user, result("a")], {}).messages


def test_the_caller_can_choose_the_text_for_a_missing_result() -> None:
    assert ["denied"] == result_texts(egress.prepare([turn(call("a"))], {}, unanswered="denied").messages)


def test_a_result_has_the_name_of_its_function_if_that_is_required() -> None:
    _, sent = egress.prepare(turns("a"), {"results.name-missing": REFUSED}).messages
    assert {**result("a"), "name": "f"} == sent


@pytest.mark.parametrize(
    ("arguments", "kind"), [('{"a', "malformed"), ("", "empty"), ("[1]", "array"), ("null", "array")]
)
def test_arguments_are_replaced_only_if_they_are_known_to_be_rejected(arguments: str, kind: str) -> None:
    transcript = [turn(call("a", arguments=arguments)), result("a")]
    assert transcript == egress.prepare(transcript, {}).messages
    claim = f"arguments.{kind}-in-request"
    prepared = egress.prepare(transcript, {claim: REFUSED})
    assert "{}" == prepared.messages[0]["tool_calls"][0]["function"]["arguments"]
    assert [("/0/tool_calls/0/function/arguments", claim)] == [(note.pointer, note.claim) for note in prepared.notes]
