"""A gateway is held at both ends: a transparent one has no finding, and each planted loss is found and blamed on it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from conformance import fidelity, profiles, scenarios
from conformance.fidelity import GATEWAY_RULES
from conformance.fidelity.pairing import match
from conformance.fidelity.passages import CLIENT, GATEWAY, PROVIDER
from conformance.gateways import runs
from conformance.gateways.playing import Front
from conformance.gateways.runs import CaseResult, GatewayCase
from conformance.gateways.upstream import Upstream, serving_upstream
from conformance.profiles import Profile
from conformance.results import Level, Status
from conformance.suite.options import on_wire
from conformance.wire.exchange import Exchange
from conformance.wires import by_name
from tests.gateways import MadeGateway, made_gateway
from tests.loops import every
from tests.planted_further import NEWEST
from tests.planted_losses import PLANTED, Planted
from tests.sampling import some

PROVIDERS = {"chat": "deepseek", "messages": "anthropic", "responses": "openai", "gemini": "gemini"}
TIMED = ("single/paced-stream", "single/client-leaves")
"""What a gateway that translates whole replies cannot pass."""

SAMPLE = ("one-tool-call", "single/tools", "single/refused-400", "single/cut-stream", "single/error-in-stream")

ALL = (*PLANTED, *NEWEST)
SOME = ALL[::29]


@cache
def profile_of(back: str) -> Profile:
    """Return the profile of the provider that speaks a wire."""
    return on_wire(profiles.load(PROVIDERS[back]), back)


@contextmanager
def _between(front: str, back: str, **does: Any) -> Iterator[tuple[Front, Upstream]]:
    with (
        serving_upstream(profile_of(back)) as upstream,
        made_gateway(MadeGateway(front, back, f"{upstream.url}/v1", **does)) as url,
    ):
        yield Front(url, front, profile_of(back).model), upstream


def _play(front: str, back: str, only: tuple[str, ...] = (), alter: Any = list, **does: Any) -> list[CaseResult]:
    is_whole = not does.get("translates") and front == back
    with _between(front, back, **does) as (end, upstream):
        found = runs.cases(front, profile_of(back), profile_of(back).model, only)
        return [runs.play(each, end, upstream, alter) for each in found if is_whole or each.name not in TIMED]


def _failed(results: list[CaseResult]) -> dict[str, list[str]]:
    return {
        f"{result.case.name} {outcome.rule}": [finding.message for finding in outcome.findings]
        for result in results
        for outcome in result.case.outcomes
        if outcome.status in (Status.FAILED, Status.ERRORED)
    }


def test_identical_requests_and_joined_texts_are_matched_in_order() -> None:
    tools = [{"name": "get", "input_schema": {"type": "object"}, "description": "Tells (Q6N3LC7XD5)."}]
    said = ["\n\nfirst (Q7VJGJTJWW)\n", "\n\nthen (QZZ4LVHVT9)\n"]
    fronts, backs = [], []
    for count in (0, 1, 2, 2):
        own = [{"role": "assistant", "content": text} for text in said[:count]]
        messages = [{"role": "user", "content": "Go (Q5TJJLRGQP)."}, *own]
        asked = Exchange.of_plain(
            {"model": "m", "max_tokens": 9, "messages": messages, "tools": tools}, url="/v1/messages", model="m"
        )
        fronts.append(by_name("messages").translate_one(asked))
        stripped = [{**each, "content": each["content"].strip()} for each in messages]
        backs.append(Exchange.of_plain({"model": "m", "messages": stripped}, url="/v1/chat/completions", model="m"))
    matched = match(fronts, backs)
    assert [each.backs for each in matched.pairs] == [(back,) for back in backs]
    assert matched.strays == ()


@pytest.mark.slow
@pytest.mark.parametrize("wire", PROVIDERS)
def test_a_gateway_that_passes_bytes_on_loses_nothing(wire: str) -> None:
    assert _failed(_play(wire, wire, (*SAMPLE, *TIMED, "single/comments"))) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("front", "back"), [("messages", "chat"), ("chat", "gemini"), ("responses", "messages")])
def test_a_gateway_that_translates_loses_nothing(front: str, back: str) -> None:
    assert _failed(_play(front, back, SAMPLE)) == {}


TRANSLATED = [
    ("chat", "messages"), ("messages", "chat"), ("chat", "responses"), ("responses", "chat"), ("chat", "gemini"),
    ("gemini", "chat"),
]  # fmt: skip
"""Between the other wires, the made gateway packs no signatures or ids of reasoning, and so is not transparent."""


@pytest.mark.exhaustive
@pytest.mark.parametrize(("front", "back"), [*[(wire, wire) for wire in PROVIDERS], *TRANSLATED])
def test_no_front_and_back_loses_anything(front: str, back: str) -> None:
    results = _play(front, back)
    assert _failed(results) == {}
    looked_at = {o.rule for each in results for o in each.case.outcomes if o.status is Status.PASSED}
    assert len(looked_at) >= 30


@every("planted", SOME, ids=lambda each: each.name)
def test_a_loss_is_found_and_blamed_on_the_gateway(planted: Planted) -> None:
    _assert_found(planted)


@pytest.mark.slow
@every("planted", some([each for each in ALL if each not in SOME], 2, lambda each: each.name, pytest.mark.exhaustive))
def test_a_planted_loss_is_found_and_blamed_on_the_gateway(planted: Planted) -> None:
    _assert_found(planted)


def _assert_found(planted: Planted) -> None:
    results = _play(*planted.wires, (planted.case,), translates=True, **planted.does)
    found = [o for each in results for o in each.case.outcomes if o.rule == f"gateway/{planted.fact}"]
    findings = [finding for outcome in found for finding in outcome.findings]
    assert findings
    assert {finding.side for finding in findings} == {GATEWAY}
    assert [each for result in results for each in result.client_losses] == []
    ends = ("front", "back") if planted.direction == "request" else ("back", "front")
    assert ends[0] in {finding.at.split("/")[2] for finding in findings}
    for finding in findings:
        assert (
            f"; after it: /{finding.at.split('/')[1]}/{'back' if '/front/' in finding.at else 'front'}"
            in finding.message
        )


def test_forty_losses_are_planted_and_each_fact_about_bodies_has_one() -> None:
    assert len(ALL) >= 40
    seen = {f"gateway/{each.fact}" for each in ALL} - GATEWAY_RULES.keys()
    watched = {"gateway/deltas-in-time", "gateway/disconnects-passed-on", "gateway/comments-harmless"}
    assert {each.id for each in fidelity.load()} - seen == watched


def _without(key: str) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    def alter(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{k: v for k, v in each.items() if k != key or each["role"] != "assistant"} for each in messages]

    return alter


@pytest.mark.slow
def test_what_the_client_loses_is_the_clients_fault() -> None:
    results = _play("chat", "chat", ("one-tool-call",), _without("reasoning_content"))
    assert _failed(results) == {}
    losses = {(each.fact, each.by) for result in results for each in result.client_losses}
    assert losses == {("gateway/reasoning-kept", CLIENT)}
    blamed = {(each.rule, each.by) for result in results for each in result.traced if each.level is Level.MUST}
    assert blamed == {("reasoning/present-on-tool-turns", CLIENT), ("reasoning/resent-on-tool-turns", CLIENT)}
    (first,) = [each for each in results[0].traced if each.level is Level.MUST][:1]
    # The pairs 0 and 1 are those of the run that the strict provider ended.
    assert first.at == "/2/front/response/choices/0/message/reasoning_content"
    assert first.other.startswith("/3/")


@pytest.mark.slow
def test_what_the_provider_does_is_the_providers_fault() -> None:
    with _between("chat", "chat") as (end, upstream):
        case = GatewayCase("ids-equal", "plain", scenarios.load("ids-equal"))
        result = runs.play(case, end, upstream)
    assert _failed([result]) == {}
    blamed = {(each.rule, each.by) for each in result.traced if each.level is Level.MUST}
    assert ("tool-calls/id-unique-in-reply", PROVIDER) in blamed
    assert {by for _, by in blamed} == {PROVIDER}
