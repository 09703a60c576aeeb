"""How rules judge together: in one pass, each by the claims of its exchange, and none disturbed by another."""

import copy
import gc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from conformance import Exchange, Outcome, Status, check, load_profile, rules
from conformance.formats.records import exchange
from conformance.judge import judge
from conformance.profiles import Claim, Model, Profile
from conformance.rules import Context, Fault, Rule
from conformance.wire.assemble import DONE_EVENT
from conformance.wire.sse import render
from tests.checking import BASES
from tests.loops import every

REFUSED = {"status": 400, "message": "no user"}
HISTORIES = [BASES[name] for name in ("tool-result-parallel", "thinking-session", "stream-tool-calls", "error")]


def exchanges(records: list[dict[str, Any]]) -> list[Exchange]:
    bodies = [(each.get("request"), each.get("response"), each.get("status")) for each in records]
    return [Exchange(body, reply if type(reply) is dict else None, status) for body, reply, status in bodies]


def breaking(rule: Rule, at: int) -> Rule:
    """Return a rule that raises when it judges one element after some others."""
    seen = []

    def judge_element(element: Any, context: Context) -> list[Fault]:
        seen.append(element)
        if len(seen) > at:
            raise KeyError(at)
        return list(rule.judge(element, context) or ())

    return replace(rule, judge=judge_element, by_schema=False)


def chosen(outcomes: tuple[Outcome, ...], *without: str) -> list[Outcome]:
    return [each for each in outcomes if each.rule not in without]


@every("records", HISTORIES)
@every("provider", [None, "deepseek", "mistral"])
def test_a_rule_that_raises_is_errored_and_the_others_judge_as_before(records: Any, provider: str | None) -> None:
    given = exchanges(records)
    for name, at in (("transcript/calls-answered", 0), ("request/no-unknown-fields", 1)):
        broken = breaking(rules.by_id()[name], at)
        expected = chosen(check(given, provider), broken.id)
        every = [broken if each.id == broken.id else each for each in rules.load()]
        assert expected == chosen(check(given, provider, every), broken.id)
        (outcome,) = [each for each in check(given, provider, every) if each.rule == broken.id]
        assert outcome.status in (Status.ERRORED, Status.NOT_APPLICABLE)
        assert (outcome.status is Status.ERRORED) is outcome.reason.startswith("KeyError")


def of_model(model: str) -> Exchange:
    return Exchange({"model": model, "messages": [{"role": "system", "content": "Be brief."}]})


MIXED = Profile("mixed", models=(Model("strict", {"request.no-user": (Claim("request.no-user", REFUSED),)}),))


def test_each_exchange_is_judged_by_the_claims_for_its_model() -> None:
    given = [of_model(model) for model in ("strict", "other", "strict")]
    (outcome,) = check(given, MIXED, "request/user-message-present")
    assert (Status.FAILED, 2) == (outcome.status, outcome.judged)
    assert ["/0/request/messages", "/2/request/messages"] == [finding.at for finding in outcome.findings]


def test_a_claim_is_not_documented_only_if_no_exchange_has_it() -> None:
    (unknown,) = check([of_model("other"), of_model("another")], MIXED, "request/user-message-present")
    assert (Status.NOT_APPLICABLE, "not documented: request.no-user") == (unknown.status, unknown.reason)


def test_a_rule_that_the_claims_rule_out_judges_nothing() -> None:
    rule = replace(rules.by_id()["transcript/calls-answered"], when=lambda claimed: claimed.knows("ids.format"))
    given = exchanges(BASES["tool-result-parallel"])
    (without,), (known,) = check(given, None, [rule]), check(given, "mistral", [rule])
    assert (Status.NOT_APPLICABLE, Status.PASSED) == (without.status, known.status)


@pytest.mark.parametrize("records", HISTORIES)
@pytest.mark.parametrize("provider", [None, "deepseek"])
def test_a_judgement_counts_and_finds_what_the_outcomes_say(records: Any, provider: str | None) -> None:
    cut = copy.deepcopy(records)
    del cut[0]["request"]["messages"][-1:]
    given = tuple(exchanges(cut))
    judgement = judge(given, None if provider is None else load_profile(provider), rules.load())
    outcomes = check(given, provider)
    assert judgement.outcomes() == outcomes
    assert judgement.judged() == [each.rule for each in outcomes if each.judged]
    assert [*judgement.found()] == [each for each in outcomes if each.status is Status.FAILED]


@every("name", [name for name in BASES if name.startswith("stream-")])
@every("more", ["", 'data: {"error": {"message": "Gone."}}\n\n', "data: 7\n\n"])
@every("late", ["", 'data: {"choices": []}\n\n'])
def test_an_event_that_is_no_chunk_is_not_counted_as_one(name: str, more: str, late: str) -> None:
    record, *_ = BASES[name]
    chunks = [item for item in record["response"] if type(item) is dict]
    assert chunks
    for faulty in (False, True):
        bodies = copy.deepcopy(chunks)
        bodies[0]["id"] = 7 if faulty else bodies[0]["id"]
        text = render([*bodies, more, DONE_EVENT, late])
        (outcome,) = check(Exchange(response=text), None, "shape/chunk")
        assert (faulty, len(chunks)) == (outcome.status is Status.FAILED, outcome.judged)


@every("other", ["", None, 7, {"role": "user", "content": "Hello"}])
@every("key", ["timestamp", "reasoning", "mood"])
def test_only_the_messages_with_unknown_keys_have_findings_and_all_are_counted(other: Any, key: str) -> None:
    user = {"role": "user", "content": "Hello"}
    bodies = [{"model": "m", "messages": [user, {**user, key: "x"}, other, {**user, key: "y"}]}] * 12
    outcomes = check([Exchange(body) for body in bodies], None, [f"re*/{name}" for name in ("no-*fields", "on-*only")])
    by_view = [each for each in outcomes if each.rule in ("request/no-unknown-fields", "request/no-local-only-fields")]
    failed = [each for each in outcomes if each.status is Status.FAILED]
    places = [f"/{number}/request/messages/{position}/{key}" for number in range(12) for position in (1, 3)]
    assert [places] == [[finding.at for finding in each.findings] for each in failed]
    assert {12 * (4 if type(other) is dict else 3)} == {each.judged for each in by_view}


@pytest.fixture
def collected() -> Iterator[None]:
    """Keep what there is out of sight of the collector, which takes a second to look through all of it."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@every("name", sorted(BASES))
def test_a_check_leaves_nothing_to_the_garbage_collector(name: str, collected: None) -> None:
    """What refers to itself keeps whole bodies in memory until the collector runs, and makes it run."""
    given = [exchange(record, name) for record in BASES[name]]
    check(given, "openai")
    gc.collect()
    gc.disable()
    try:
        check(given, "openai")
        assert gc.collect() == 0
    finally:
        gc.enable()
