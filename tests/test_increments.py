"""A session is judged by what is new in it, with the outcomes that each request would have by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import is_
from pathlib import Path
from typing import Any

import pytest

from conformance import Exchange, Outcome, Session, Status, load_profile, profiles, rules
from conformance.files.recognition import chosen_profile
from conformance.formats import read_path
from conformance.formats.inputs import Input
from conformance.judge import judge, judge_apart, judge_last
from conformance.profiles import Profile
from conformance.rules.running import RuleRun
from conformance.wire import read_requests
from conformance.wire.views import requests
from conformance.wires import of, translate
from tests.drawn_items import drawn_items
from tests.drawn_sessions import PROVIDERS, drawn
from tests.loops import every
from tests.mutation import bases, catalogue
from tests.mutation.mutants import of_mutation

BLOCK = 40
SESSIONS = 50
MANY_SESSIONS = 200
ALL_SESSIONS = 10_000
"""How many sessions are drawn in a plain run, in CI and by night."""
LONG = 60
"""At most so many exchanges: more than replies are looked for that have an id in common."""


def assert_same(conversation: Sequence[Exchange], profile: Profile | None, name: Any) -> None:
    """Assert that judging what is new finds the same as judging all: rule, level, pointer, words, counts, order."""
    every_rule = rules.of_traffic()
    one = judge(tuple(conversation), profile, every_rule).outcomes()
    other = judge_apart(tuple(conversation), profile, every_rule).outcomes()
    # `repr`, because some fields of a finding do not count when two are compared.
    differing = [
        (name, repr(this), repr(that)) for this, that in zip(one, other, strict=True) if repr(this) != repr(that)
    ]
    assert [] == differing


def _profile(seed: int) -> Profile | None:
    name = PROVIDERS[seed % len(PROVIDERS)]
    return None if name is None else load_profile(name)


def _conversations(path: Path) -> list[Input]:
    """Return the sessions of a file, and all its exchanges in blocks as if they were one."""
    found = [each for each in read_path(path) if each.problem is None and each.conversation]
    whole = [exchange for each in found for exchange in each.conversation]
    blocks = [Input(str(path), at, "exchanges", tuple(whole[at : at + BLOCK])) for at in range(0, len(whole), BLOCK)]
    return [*[each for each in found if len(each.conversation) > 1], *blocks]


def test_drawn_sessions_have_the_outcomes_of_judging_each_request_from_scratch() -> None:
    for seed in range(SESSIONS):
        assert_same(list(drawn(seed)), _profile(seed), seed)


def test_long_sessions_have_the_outcomes_of_judging_each_request_from_scratch() -> None:
    for seed in range(0, SESSIONS, 10):
        assert_same(list(drawn(seed, LONG)), _profile(seed), seed)


def _calling(identity: str, city: str) -> dict[str, Any]:
    function = {"name": "get_weather", "arguments": f'{{"city": "{city}"}}'}
    call = {"id": identity, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def test_an_id_may_be_another_once_it_comes_again() -> None:
    messages: list[Any] = [{"role": "user", "content": "Go."}]
    exchanges: list[Exchange] = []
    for given, sent in [("call_0", "other_0"), ("call_1", "call_1"), ("call_2", "call_2"), ("call_0", "call_0")]:
        city = f"{len(exchanges)}"
        choice = {"index": 0, "message": _calling(given, city), "finish_reason": "tool_calls"}
        reply = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        exchanges.append(Exchange({"model": "m", "messages": list(messages)}, reply, 200))
        messages += [_calling(sent, city), {"role": "tool", "tool_call_id": sent, "content": "21"}]
    exchanges.append(Exchange({"model": "m", "messages": list(messages)}))
    assert_same(exchanges, None, "an id")
    (outcome,) = judge(tuple(exchanges), None, rules.select(["transcript/reply-resent-unchanged"])).outcomes()
    at = "request/messages/1/tool_calls/0/id"
    assert [f"/1/{at}", f"/2/{at}", f"/3/{at}"] == [each.at for each in outcome.findings]


def test_no_session_needs_to_be_judged_rule_by_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    # What breaks while a session goes on is judged again, rule by rule, with the same outcomes, but slowly.
    monkeypatch.setattr(RuleRun, "add_alone", _raise)
    refusing = _refusing()
    for seed in range(SESSIONS):
        for session in (drawn(seed), drawn_items(seed)):
            assert judge(tuple(session), refusing if seed % 3 else _profile(seed), rules.of_traffic()).judged()


def test_items_of_responses_have_the_outcomes_of_judging_each_request_from_scratch() -> None:
    refusing = _refusing()
    for seed in range(SESSIONS):
        assert_same(list(drawn_items(seed)), refusing if seed % 3 else _profile(seed), seed)


@pytest.mark.exhaustive
def test_more_items_of_responses_have_the_outcomes_of_judging_each_request_from_scratch() -> None:
    refusing = _refusing()
    for seed in range(SESSIONS, ALL_SESSIONS // 5):
        assert_same(list(drawn_items(seed, LONG)), refusing if seed % 3 else _profile(seed), seed)


@pytest.mark.exhaustive
def test_more_long_sessions_have_the_outcomes_of_judging_each_request_from_scratch() -> None:
    for seed in range(SESSIONS, ALL_SESSIONS // 20):
        assert_same(list(drawn(seed, LONG)), _profile(seed), seed)


@every(
    "seeds",
    [
        pytest.param(range(SESSIONS, MANY_SESSIONS), marks=pytest.mark.slow),
        pytest.param(range(MANY_SESSIONS, ALL_SESSIONS), marks=pytest.mark.exhaustive),
    ],
)
def test_more_drawn_sessions_have_the_outcomes_of_judging_each_request_from_scratch(seeds: range) -> None:
    for seed in seeds:
        assert_same(list(drawn(seed)), _profile(seed), seed)


def test_requests_are_translated_from_where_they_go_on_as_they_are_from_the_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for seed in range(SESSIONS):
        conversation = list(drawn(seed))
        one = translate(tuple(conversation))
        with monkeypatch.context() as patch:
            patch.setattr(read_requests, "LOOK_BACK", 0)
            other = translate(tuple(conversation))
        assert repr(other) == repr(one), seed


@every("wire", ["messages", "responses", "gemini"])
def test_a_request_that_goes_on_shares_the_messages_that_it_repeats(wire: str) -> None:
    sessions = [list(drawn(seed)) for seed in range(SESSIONS)]
    translated = [translate(tuple(each)) for each in sessions if of(each[0]).name == wire]
    pairs = [(one.request, other.request) for each in translated for one, other in pairwise(each)]
    shared = [sum(map(is_, one["messages"], other["messages"])) for one, other in pairs if one and other]
    assert sum(shared) > sum([len(one["messages"]) for one, _ in pairs]) / 3


def test_recorded_sessions_have_the_outcomes_of_judging_each_request_from_scratch(shared: Path) -> None:
    for given in _conversations(shared / "recordings" / "sessions.jsonl.gz")[::6]:
        assert_same(given.conversation, chosen_profile(given, "auto"), (given.path, given.line))


@pytest.mark.exhaustive
@every("folder", ["recordings", "captures"])
def test_all_recordings_have_the_outcomes_of_judging_each_request_from_scratch(folder: str, shared: Path) -> None:
    for path in sorted((shared / folder).glob("*.jsonl.gz")):
        for given in _conversations(path):
            for provider in ("none", "auto", "deepseek"):
                assert_same(given.conversation, chosen_profile(given, provider), (path.name, given.line, provider))


@pytest.mark.exhaustive
def test_sessions_of_the_mutation_catalogue_have_the_outcomes_of_judging_each_request_from_scratch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged, seen = bases.judged, set[str]()

    def comparing(exchanges: Sequence[Exchange], claims: Mapping[str, Any] | None = None) -> Mapping[str, Status]:
        if len(exchanges) > 1:
            profile = profiles.of(dict(claims), "claiming") if claims else None
            # Once more, because a client may send its history again, whatever was wrong with it.
            assert_same([*exchanges, *exchanges[-2:]], profile, exchanges)
            seen.add(repr(exchanges))
        return judged(tuple(exchanges), claims)

    monkeypatch.setattr(bases, "judged", comparing)
    mutants = [mutant for mutation in catalogue.load() for mutant in of_mutation(mutation)]
    assert len(mutants) > len(seen) > 900


def _added(conversation: Sequence[Exchange], profile: Profile | None) -> list[tuple[Outcome, ...]]:
    session = Session(profile, "*")
    return [session.add(exchange) for exchange in conversation]


def _of_exchange(outcome: Outcome, number: int) -> list[str]:
    return [repr(each) for each in outcome.findings if each.at.split("/")[1] == f"{number}"]


def test_a_session_finds_in_each_exchange_what_the_whole_conversation_has_there() -> None:
    for seed in range(0, SESSIONS, 5):
        conversation = tuple(drawn(seed))
        whole = judge(conversation, _profile(seed), rules.of_traffic()).outcomes()
        added = _added(conversation, _profile(seed))
        for position, outcome in enumerate(whole):
            own = [outcomes[position] for outcomes in added]
            if len(outcome.findings) <= 100:
                expected = [_of_exchange(outcome, number) for number in range(len(conversation))]
                assert expected == [[repr(each) for each in one.findings] for one in own], (seed, outcome.rule)
            assert outcome.judged == sum(one.judged for one in own), (seed, outcome.rule)
            known = {key: count for one in own for key, count in one.known_at.items()}
            assert dict(outcome.known_at) == known, (seed, outcome.rule)


def test_the_last_exchange_judged_alone_has_the_findings_that_the_whole_conversation_has_there() -> None:
    for seed in range(1, SESSIONS, 5):
        conversation, profile = tuple(drawn(seed)), _profile(seed)
        whole = judge(conversation, profile, rules.of_traffic()).outcomes()
        last = judge_last(conversation, profile, rules.of_traffic()).outcomes()
        for outcome, own in zip(whole, last, strict=True):
            if len(outcome.findings) <= 100:
                expected = _of_exchange(outcome, len(conversation) - 1)
                assert expected == [repr(each) for each in own.findings], (seed, own.rule)


def test_a_rule_that_breaks_on_the_last_exchange_breaks_no_other() -> None:
    (rule,) = rules.select(["transcript/calls-answered"])
    broken = replace(rule, id="broken/rule", judge=_raise)
    conversation = next(each for each in map(tuple, map(drawn, range(9))) if judge_last(each, None, [rule]).judged())
    outcomes = judge_last(conversation, None, [broken, rule]).outcomes()
    assert [Status.ERRORED, judge_last(conversation, None, [rule]).outcomes()[0].status] == [
        each.status for each in outcomes
    ]


def test_a_session_holds_no_more_than_its_bound_and_goes_on_counting() -> None:
    text = "x" * 1000
    session = Session(rules="transcript/*", max_bytes=20_000)
    messages: list[dict[str, Any]] = []
    for number in range(60):
        messages = [*messages, {"role": "user", "content": f"{number} {text}"}]
        if number == 59:
            messages = [*messages, {"role": "tool", "tool_call_id": "call_1", "content": "lost"}]
        outcomes = session.add(Exchange({"model": "gpt-5", "messages": messages[-5:]}))
        assert session.size <= 20_000
        messages = [*messages, {"role": "assistant", "content": f"{number} seen"}]
    (found,) = [
        each for outcome in outcomes if outcome.rule == "transcript/result-answers-call" for each in outcome.findings
    ]
    assert "/59/request/messages/4" == found.at


def test_a_broken_rule_breaks_neither_the_session_nor_another_rule() -> None:
    (rule,) = rules.select(["transcript/calls-answered"])
    broken = replace(rule, id="broken/rule", judge=_raise)
    session = Session(rules=[broken, rule])
    statuses = [[outcome.status for outcome in session.add(exchange)] for exchange in tuple(drawn(3))]
    assert {Status.ERRORED, Status.NOT_APPLICABLE} >= {one for one, _ in statuses}
    assert Status.ERRORED in {one for one, _ in statuses}
    assert Status.ERRORED not in {other for _, other in statuses}


def _raise(*_: Any) -> None:
    raise ZeroDivisionError


# What a rule says about its reach.

OF_PAIRS = (
    "request/one-system-message",
    "request/roles-alternate",
    "request/system-first",
    "request/tool-call-ids-unique",
)


def _refusing() -> Profile:
    """Return a provider that refuses all that the bad examples of the rules about requests break."""
    claims: dict[str, Any] = {}
    for rule in rules.of_traffic():
        for each in rule.bad if rule.on is requests or rule.on.between is not None else ():
            claims = {**each.claims, **claims}
    return profiles.of(claims, "refusing")


@pytest.mark.slow
@every("name", OF_PAIRS, ids=str)
def test_a_rule_that_declares_less_than_it_reads_is_found(name: str) -> None:
    profile = _refusing()
    too_little = tuple([replace(each, reach=rules.ELEMENT) if each.id == name else each for each in rules.of_traffic()])
    found = set()
    for seed in range(2 * MANY_SESSIONS):
        conversation = tuple(drawn(seed))
        one, other = (way(conversation, profile, too_little).outcomes() for way in (judge, judge_apart))
        found |= {this.rule for this, that in zip(one, other, strict=True) if repr(this) != repr(that)}
        if found:
            break
    assert {name} == found


def test_every_rule_reads_no_more_than_it_declares_where_all_is_refused() -> None:
    refusing = _refusing()
    for seed in range(0, SESSIONS, 3):
        assert_same(list(drawn(seed)), refusing, seed)


GOING_ON: dict[str, list[Any]] = {
    "messages": [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "Go on."}],
    "input": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
        {"type": "message", "role": "user", "content": "Go on."},
    ],
    "contents": [{"role": "model", "parts": [{"text": "Done."}]}, {"role": "user", "parts": [{"text": "Go on."}]}],
}


def going_on(exchange: Exchange) -> list[Exchange]:
    """Return requests that go on from one: further turns, a beginning, the same again, other parameters, and a change.

    The change is of a message before the last one, such as an agent makes that moves a mark.
    """
    body = exchange.request
    key = next((each for each in GOING_ON if type(body) is dict and type(body.get(each)) is list), "")
    if not key:
        return []
    sent, more = body[key], GOING_ON[key]
    lists = [sent + more, sent + more + more, sent[:-1], sent, sent[:-1] + more, sent + more + more + more]
    lists.append([{"role": "user", "cache_control": None}, *sent[1:], *more])
    bodies = [{**body, key: each} for each in lists] + [{**body, "temperature": 0.5, key: sent + more}]
    return [replace(exchange, request=each) for each in bodies]


def _going_on_from(example: rules.Example) -> list[Exchange]:
    """Return what an example goes on to, after the conversation of which it is an edit, and before that one."""
    before, conversation = rules.Example(example.base).conversation(), example.conversation()
    later = [more for exchange in (*conversation, *before) for more in going_on(exchange)]
    return [*before, *conversation, *later, *reversed(conversation), *before]


def _of_examples(rule: rules.Rule) -> None:
    for number, each in enumerate((*rule.bad, *rule.good)):
        profile = profiles.of(dict(each.claims), "claiming") if each.claims else None
        assert_same(_going_on_from(each), profile, (rule.id, number))


@pytest.mark.slow
@every("rule", rules.load()[::48], ids=lambda rule: rule.id)
def test_examples_that_go_on_have_the_outcomes_of_judging_each_request_from_scratch(rule: rules.Rule) -> None:
    _of_examples(rule)


@pytest.mark.exhaustive
@every("rule", rules.load(), ids=lambda rule: rule.id)
def test_all_examples_that_go_on_have_the_outcomes_of_judging_each_request_from_scratch(rule: rules.Rule) -> None:
    _of_examples(rule)
