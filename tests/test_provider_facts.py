"""What provider pages show beside claims: requests to copy, dates, lifecycles, and the texts of wrapped errors."""

import json
from typing import Any

import pytest

from conformance import profiles, rules
from conformance.judge import check
from conformance.profiles import Claim, Model, Period, Profile, Source, rejects_or_damages
from conformance.reporting import provider_facts
from conformance.reporting.matrix.sentences import describe, wrapped_texts
from conformance.reporting.second_turns import second_turns
from conformance.results import Level, Status
from conformance.simulator import Simulator
from conformance.wire.native import CHAT
from conformance.wire.reasoning import KEYS
from conformance.wire.views import Side
from tests.loops import every
from tests.sampling import some

SIDES = {rule.id: rule.on.side for rule in rules.load()}


ON_ALL_WIRES = [(name, wire) for name in profiles.names() for wire in profiles.load(name).wires]


@every(("name", "wire"), some(ON_ALL_WIRES, 3))
def test_a_second_request_contradicts_no_claim_and_no_source(name: str, wire: str) -> None:
    profile = profiles.load(name).on(wire)
    claims = profile.at(profile.model)
    for turn in second_turns(profile):
        (sent,) = [message for message in turn.body["messages"] if message["role"] == "assistant"]
        fields = claims.get("reasoning.request-field", "reasoning_content")
        read = [each for each in (fields if isinstance(fields, list) else [fields]) if each in KEYS]
        turn_kind = "tool" if sent.get("tool_calls") else "plain"
        required = f"reasoning.omitted-on-{turn_kind}-turn"
        refused = rejects_or_damages(claims.get(required)) or required in profile.contested(profile.model)
        can_think = claims.get("thinking.mode") in ("always", "default-on") or isinstance(
            claims.get("thinking.on"), dict
        )
        if refused and read and can_think and not rejects_or_damages(claims.get("thinking.with-tools")):
            assert any(sent.get(field) for field in read), turn.title
        contested = [
            finding.message
            for outcome in check(turn.conversation, profile)
            for finding in outcome.findings
            if finding.contested is not None and SIDES[outcome.rule] is Side.CLIENT
        ]
        assert [] == contested


@every(("name", "wire"), some(ON_ALL_WIRES, 3))
def test_a_second_request_breaks_no_must_and_is_accepted(name: str, wire: str) -> None:
    profile = profiles.load(name).on(wire)
    turns = list(second_turns(profile))
    supports_tools = profile.at(profile.model).get("tools.supported") is not False
    assert ["After an answer", *(["After a tool call"] if supports_tools else [])] == [turn.title for turn in turns]
    for turn in turns:
        broken = [
            (outcome.rule, outcome.reason or outcome.findings[0].message)
            for outcome in check(turn.conversation, profile)
            if outcome.status is Status.ERRORED or (outcome.status is Status.FAILED and outcome.level is Level.MUST)
            if SIDES[outcome.rule] is Side.CLIENT
        ]
        assert [] == broken
        # Bodies of other wires are rendered from this one, and only who sent a signature knows it again.
        if profile.wire == CHAT:
            assert 200 == Simulator(profile).reply(turn.body).status


@pytest.mark.parametrize("name", ["deepseek", "mistral", "openai"])
def test_a_printed_request_is_the_request(name: str) -> None:
    profile = profiles.load(name)
    printed = [json.loads(text) for _, text in provider_facts.requests(profile)]
    assert [turn.body for turn in second_turns(profile)] == printed


def test_a_second_request_after_a_tool_call_sends_reasoning_and_ids_back() -> None:
    _, turn = second_turns(profiles.load("deepseek"))
    assert turn.before.response is not None
    message = turn.before.response["choices"][0]["message"]
    _, sent, result = turn.body["messages"]
    assert message["reasoning_content"] == sent["reasoning_content"]
    assert message["tool_calls"][0]["id"] == sent["tool_calls"][0]["id"] == result["tool_call_id"]


def claim(name: str, *sources: Source) -> Claim:
    return Claim(name, "v", source=sources)


def test_the_date_of_a_claim_is_the_last_day_on_which_a_source_of_it_was_read() -> None:
    claims = [
        claim("ids.format", Source(url="u", read="2026-01-05"), Source(url="v", read="2026-03")),
        claim("tools.parallel", Source(searched="2026-02-01")),
        claim("reasoning.altered", Source(inferred="so")),
        claim("stream.done", Source(url="u", read="2025-12-31")),
    ]
    found = provider_facts.dates({each.name: each for each in claims})
    assert ("2026-03", "2025-12-31", "tools.parallel", "2026-02-01", ("reasoning.altered",)) == found
    assert provider_facts.Dates() == provider_facts.dates({})


def test_a_lifecycle_says_what_holds_on_the_day_of_the_facts() -> None:
    cited = (Source(url="https://a.example/"),)
    lifecycles = {
        "a": (Period(until="2026-01", source=cited),),
        "b": (Period(until="2026-01", source=cited), Period("2026-06", "2027-01", "a-2", cited)),
        "c": (Period(since="2025", source=cited),),
        "d": (Period(until="2026-01", source=cited), Period("2027-01", source=cited)),
    }
    models = tuple([Model(name, {}, lifecycle=lifecycle) for name, lifecycle in lifecycles.items()])
    rows = provider_facts.lifecycle_rows(Profile("made", models=models, as_of="2026-11-20"), lambda _: "[1]")
    expected = ["retired on 2026-01", "alias of `a-2`, ends on 2027-01", "served", "not served"]
    assert expected == [row[1] for row in rows]


WRAPPED: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({}, ()),
    ({"body": {"error": {"message": "m"}}}, ()),
    ({"body": {"error": {"metadata": {"raw": "plain {{text}}"}}}}, ("plain {text}",)),
    (
        {"body": {"error": {"metadata": {"raw": '{{"error":{{"message":"a \\"b\\" at {index}"}}}}'}}}},
        ('a "b" at {index}',),
    ),
    ({"body": {"detail": ['{{"message": "one"}}', '{{"message": "one"}}']}}, ("one",)),
    ({"message": "same", "body": {"raw": '{"message": "same"}'}}, ()),
    ({"body": '{{"error": {{"message": "whole"}}}}'}, ("whole",)),
]


@pytest.mark.parametrize(("refusal", "expected"), WRAPPED)
def test_the_text_of_an_upstream_is_found_in_the_error_that_wraps_it(
    refusal: dict[str, Any], expected: tuple[str, ...]
) -> None:
    assert expected == wrapped_texts({"status": 400, **refusal})


def test_a_wrapped_text_stands_beside_the_text_that_wraps_it() -> None:
    claimed = profiles.load("openrouter").at("deepseek/deepseek-v4-flash")["reasoning.omitted-on-tool-turn"]
    text = describe("reasoning.omitted-on-tool-turn", claimed, str)
    assert (
        "Provider returned error, which wraps The `reasoning_content` in the thinking mode must be passed back" in text
    )
