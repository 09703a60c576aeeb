"""Limits and statuses at their borders: what is just allowed, and what is just too much."""

import json
from dataclasses import replace
from typing import Any

import pytest

from conformance import check, profiles
from conformance.documents.pointer import edit
from conformance.gate import check_results
from conformance.proxy import tally
from conformance.results import Evidence, Level, Status
from conformance.results.runs import Case, ProbeResult, Results
from conformance.scenarios import ScriptTurn
from conformance.simulator import script, store
from conformance.simulator.parameters import Parameters, read_parameters
from conformance.simulator.reply_context import tokens
from conformance.transport.client import SIMULATOR
from conformance.wire.exchange import Exchange
from conformance.wire.index import Index
from conformance.wire.sse import render
from conformance.wire.text import quoted_difference
from tests.checking import BASES
from tests.traffic import checked, copy_of

CALLS = (("f", {"a": 1}), ("g", {"b": 2}))
"""Each has 7 characters of arguments."""


@pytest.mark.parametrize(
    ("turn", "thinks", "limit", "expected"),
    [
        (ScriptTurn(says="12345678"), False, 3, ("", "12345678", 0, False)),
        (ScriptTurn(says="12345678"), False, 2, ("", "12345678", 0, False)),
        (ScriptTurn(says="123456789"), False, 2, ("", "12345678", 0, True)),
        (ScriptTurn(thinks="1234", says="5678"), True, 2, ("1234", "5678", 0, False)),
        (ScriptTurn(thinks="1234", says="56789"), True, 2, ("1234", "5678", 0, True)),
        (ScriptTurn(thinks="123456789", says="0"), True, 2, ("12345678", "", 0, True)),
        (ScriptTurn(thinks="1234", says="5678"), False, 1, ("1234", "5678", 0, False)),
        (ScriptTurn(says="12", calls=CALLS, ids=("c1", "c2")), False, 4, ("", "12", 2, False)),
        (ScriptTurn(says="123", calls=CALLS, ids=("c1", "c2")), False, 4, ("", "123", 2, True)),
        (ScriptTurn(says="1", calls=CALLS, ids=("c1", "c2")), False, 2, ("", "1", 1, True)),
    ],
)
def test_a_turn_is_cut_by_one_character_too_many_and_no_earlier(
    turn: ScriptTurn, thinks: bool, limit: int, expected: tuple[str, str, int, bool]  # noqa: FBT001
) -> None:  # fmt: skip
    made, is_cut = script.bounded(turn, Parameters(limit=limit), thinks=thinks)
    assert expected == (made.thinks, made.says, len(made.calls), is_cut)
    assert len(made.calls) == len(made.ids)


def test_every_choice_and_every_text_counts_in_the_length_of_a_reply() -> None:
    turn = ScriptTurn(thinks="123", says="4567", calls=CALLS)
    assert [21, 63] == [script.length(turn, Parameters(choices=number)) for number in (1, 3)]


@pytest.mark.parametrize(("value", "expected"), [("", 1), ("1", 1), ("12", 2), ("123456", 3), (None, 2), ([], 1)])
def test_a_token_is_four_bytes_of_json_and_one_begins_each_value(value: Any, expected: int) -> None:
    assert expected == tokens(value)


@pytest.mark.parametrize(
    ("body", "is_allowed"),
    [
        ({"n": 0}, False),
        ({"n": 1}, True),
        ({"n": 128}, True),
        ({"n": 129}, False),
        ({"max_tokens": 0}, False),
        ({"max_tokens": 1}, True),
        ({"logprobs": True, "top_logprobs": 20}, True),
        ({"logprobs": True, "top_logprobs": 21}, False),
        ({"logprobs": False, "top_logprobs": 1}, False),
    ],
)
def test_a_parameter_is_rejected_one_beyond_its_range(body: dict[str, Any], is_allowed: bool) -> None:  # noqa: FBT001
    assert is_allowed is isinstance(read_parameters(body, {}), Parameters)


def test_the_smaller_of_two_limits_holds() -> None:
    both = read_parameters({"max_tokens": 7, "max_completion_tokens": 5}, {})
    assert isinstance(both, Parameters)
    assert 5 == both.limit


def kept(*numbers: int) -> store.ReplyStore:
    """Return a store of replies, each of which continues the one before."""
    found = store.ReplyStore()
    for number in numbers:
        asked = {"model": "m", "input": "Hello"}
        reply = json.dumps({"id": f"resp_{number}", "output": []}).encode()
        found.add("", asked, reply, b"", f"resp_{number - 1}")
    return found


def test_as_many_replies_are_kept_as_the_limit_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_REPLIES", 3)
    assert [False, True, True, True] == [kept(1, 2, 3, 4).has(f"resp_{number}") for number in (1, 2, 3, 4)]
    assert kept(1, 2, 3).has("resp_1")


def test_a_session_is_as_long_as_the_limit_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_SESSION", 2)
    assert [2, 1] == [len(kept(1, 2, 3).session(name)) for name in ("resp_3", "resp_1")]


@pytest.mark.parametrize(
    ("status", "conversations"), [(200, 2), (399, 2), (400, 1), (429, 1), (499, 1), (500, 1), (529, 1)]
)
def test_a_request_after_its_failure_is_a_retry_and_after_a_reply_is_not(status: int, conversations: int) -> None:
    first = edit(BASES["plain"][0], {"/status": status})
    if status >= 400:
        first = edit(first, {"/response": {"error": {"message": "no", "type": "t"}}})
    found, _ = checked([copy_of(first), copy_of(BASES["plain"][0])])
    assert conversations == sum(model.conversations for model in found.tally.models.values())


def test_the_tally_keeps_as_many_models_and_findings_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "MAX_MODELS", 2)
    monkeypatch.setattr(tally, "_MAX_FINDINGS", 2)
    faulty = edit(BASES["plain"][0], {"/response/object": 7})
    given = [edit(faulty, {"/request/model": name, "/response/model": name}) for name in "aabbbccdd"]
    found, _ = checked([copy_of(each) for each in given])
    counted = found.tally.models
    assert {"a": 2, "b": 3, tally.OTHER_MODELS: 4} == {name: each.exchanges["plain"] for name, each in counted.items()}
    assert {2, 3, 4} == {each.conversations for each in counted.values()}
    rows = [each.rows["plain", "shape/response"] for each in counted.values()]
    assert [(2, 2, 2), (3, 3, 2), (4, 4, 2)] == [(row.judged, row.failed, len(row.findings)) for row in rows]
    assert 9 == found.tally.checked
    assert {Level.MUST: 9} == dict(found.tally.levels)


def test_of_the_findings_of_a_rule_the_first_twenty_are_kept() -> None:
    faulty = edit(BASES["plain"][0], {"/response/object": 7})
    found, _ = checked([copy_of(faulty)] * 22)
    row = found.tally.models["example-model"].rows["plain", "shape/response"]
    assert (22, 22, 20) == (row.judged, row.failed, len(row.findings))
    assert "(conversation-0020)" in row.findings[-1].message


def test_results_say_which_model_is_not_the_one_of_the_profile_and_what_the_simulator_sent() -> None:
    profile = profiles.load("deepseek")
    real = copy_of(edit(BASES["plain"][0], {"/request/model": profile.model}))
    other = copy_of(BASES["plain"][0])
    played = replace(other, headers=[*other.headers, ("Server", SIMULATOR)])
    found, _ = checked([real, other, played, other, copy_of(BASES["stream-plain"][0])])
    every = found.tally.results(profile, "2026-11-23", "localhost")
    of_provider = {(each.model, each.further): each for each in every if not each.provider}
    assert {(profile.model, False), ("example-model", True)} == set(of_provider)
    evidence = {name: [(case.variant, case.evidence) for case in each.cases] for (name, _), each in of_provider.items()}
    # One reply of the simulator is enough: what it plays proves nothing about the provider.
    assert [("plain", Evidence.SIMULATED), ("stream", Evidence.LIVE)] == evidence["example-model"]
    assert [("plain", Evidence.LIVE)] == evidence[profile.model]


@pytest.mark.parametrize(
    ("ids", "expected"), [("a", Status.NOT_APPLICABLE), ("aa", Status.PASSED), ("ab", Status.FAILED)]
)
def test_two_chunks_are_enough_to_have_different_ids(ids: str, expected: Status) -> None:
    choice = {"index": 0, "delta": {"role": "assistant", "content": "Hi"}, "finish_reason": None}
    chunks = [{"id": name, "object": "chat.completion.chunk", "model": "m", "choices": [choice]} for name in ids]
    given = Exchange({"model": "m", "messages": [], "stream": True}, render([*chunks, "data: [DONE]\n\n"]), 200)
    (outcome,) = check(given, rules="stream/chunk-id-constant")
    assert expected is outcome.status


def test_what_two_texts_share_is_cut_if_it_is_longer_than_twenty_characters() -> None:
    for same, shown in ((20, "a" * 20), (21, "…" + "a" * 10)):
        assert (repr(f"{shown}x"), repr(f"{shown}y")) == quoted_difference("a" * same + "x", "a" * same + "y")


def test_a_reply_is_looked_for_among_the_last_eight_with_the_same_text() -> None:
    def ask(text: str, *more: dict[str, Any]) -> dict[str, Any]:
        return {"model": "m", "messages": [{"role": "user", "content": text}, *more]}

    replies = [
        {"role": "assistant", "content": "Yes.", "reasoning_content": f"Thought {number}"} for number in range(9)
    ]
    earlier = [
        Exchange(ask(f"Question {number}"), {"choices": [{"index": 0, "message": reply, "finish_reason": "stop"}]}, 200)
        for number, reply in enumerate(replies)
    ]
    for number, expected in ((1, 1), (0, 8)):  # What is no longer looked for is taken for the latest.
        later = Exchange(ask("Question", replies[number], {"role": "user", "content": "Why?"}), None, 200)
        assert [expected] == [found.reply.place[0] for found in Index((*earlier, later)).resent]


def test_what_a_later_request_repeats_is_paired_with_its_first_place() -> None:
    def said(text: str) -> dict[str, Any]:
        return {"role": "assistant", "content": text}

    user = {"role": "user", "content": "Go on."}
    body = {"choices": [{"index": 0, "message": said("Yes."), "finish_reason": "stop"}]}
    later = [user, said("No."), user, said("Yes."), user, said("Yes."), user]
    conversation = (
        Exchange({"model": "m", "messages": [user]}, body, 200),
        Exchange({"model": "m", "messages": later}, None, 200),
    )
    assert [(1, "request", "messages", 3)] == [found.place for found in Index(conversation).resent]


def test_an_outcome_holds_a_hundred_findings_and_says_how_many_more_there_were() -> None:
    for number, expected in ((100, 100), (101, 101), (105, 101)):
        messages = [{"role": "user", "content": "Hello", "mood": "x"}] * number
        (outcome,) = check(Exchange({"model": "m", "messages": messages}), None, "request/no-unknown-fields")
        assert expected == len(outcome.findings)
        assert (number > 100) is (f"{number - 100} more" in outcome.findings[-1].message)


def test_a_probe_that_fails_is_the_fault_of_the_provider() -> None:
    probes = [
        ProbeResult("p", "A title.", "r/s", each, "accepted", "refused") for each in (Status.FAILED, Status.PASSED)
    ]
    case = Case("s", "plain", Evidence.LIVE, (), tuple(probes))
    assert ["provider", ""] == [each.side for each in check_results(Results("h", "m", (case,)))]
