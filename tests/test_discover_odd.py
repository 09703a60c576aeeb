"""Odd servers: the profile that is discovered, played back against them, has no finding and no contradicted claim."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance import load_profile, scenarios
from conformance.discovery.discovering import Discovery, breaches, discover
from conformance.discovery.interview import Interview
from conformance.discovery.writing import profile_text
from conformance.observations.collected import collect
from conformance.observations.comparing import matching
from conformance.profiles import Profile
from conformance.results import Evidence
from conformance.simulator import Simulator
from conformance.suite.play import play
from conformance.suite.turns import Subject
from conformance.transport.client import Inconclusive
from conformance.wire.exchange import Exchange

Ask = Callable[[Mapping[str, Any]], Exchange]
Odd = Callable[[], Ask]

LIMIT, DAY = 600, "2026-11-28"
PLAYED = ("plain-answer", "one-tool-call", "two-tool-turns", "parallel-tool-calls", "interleaved-thinking")
CASES = tuple([(scenarios.load(name), variant) for name in PLAYED for variant in ("plain", "stream")])

THINKS: Mapping[str, Any] = {"thinking.mode": "always", "reasoning.response-field": "reasoning_content"}
ONCE = ("id", "type")


def simulator(claims: Mapping[str, Any], base: str = "vllm") -> Simulator:
    return Simulator(load_profile(base).with_claims(claims))


def refusal(body: Mapping[str, Any], status: int, words: str) -> Exchange:
    error = {"error": {"message": words, "type": "invalid_request_error", "param": None, "code": None}}
    return Exchange.of_plain(request=dict(body), response=error, status=status, model=str(body["model"]))


def changed(exchange: Exchange, change: Callable[[dict[str, Any]], None]) -> Exchange:
    """Return an exchange with a change in each message or delta of its reply."""
    if not isinstance(exchange.response, str):
        body = copy.deepcopy(exchange.response)
        for choice in body.get("choices", ()) if isinstance(body, dict) else ():
            change(choice["message"])
        return _with(exchange, body)
    lines = []
    for line in exchange.response.splitlines():
        event = json.loads(line[6:]) if line.startswith("data: {") else None
        for choice in (event or {}).get("choices", ()):
            change(choice["delta"])
        lines.append(line if event is None else f"data: {json.dumps(event)}")
    return _with(exchange, "\n".join([*lines, ""]))


def _with(exchange: Exchange, response: Any) -> Exchange:
    return Exchange.of_plain(
        request=exchange.request,
        response=response,
        status=exchange.status,
        streamed=exchange.streamed,
        headers=dict(exchange.headers),
        model=exchange.model,
    )


def replies(ask: Ask, change: Callable[[dict[str, Any]], None]) -> Ask:
    return lambda body: changed(ask(body), change)


def rule_of(ask: Ask, refuse: Callable[[Mapping[str, Any]], str], status: int = 400) -> Ask:
    def send(body: Mapping[str, Any]) -> Exchange:
        words = refuse(body)
        return refusal(body, status, words) if words else ask(body)

    return send


def turns(body: Mapping[str, Any], role: str) -> list[dict[str, Any]]:
    return [each for each in body["messages"] if each["role"] == role]


def same_id(message: dict[str, Any]) -> None:
    for call in message.get("tool_calls") or ():
        if "id" in call:
            call["id"] = "call_abc"


def ids_that_repeat() -> Ask:
    return replies(simulator({}).send, same_id)


def no_results() -> Ask:
    return rule_of(simulator({}).send, lambda body: "Bad request" if turns(body, "tool") else "")


def no_tools() -> Ask:
    return rule_of(simulator({}).send, lambda body: "tools are not enabled" if "tools" in body else "")


def one_call_at_a_time() -> Ask:
    def first(message: dict[str, Any]) -> None:
        if message.get("tool_calls"):
            message["tool_calls"] = [call for call in message["tool_calls"] if call.get("index", 0) == 0][:1]
            if not message["tool_calls"]:
                del message["tool_calls"]

    return replies(simulator({}).send, first)


def flaky() -> Ask:
    count = iter(range(10**6))
    inner = simulator(THINKS).send

    def send(body: Mapping[str, Any]) -> Exchange:
        if next(count) % 7 == 3:
            raise Inconclusive("HTTP 500", refusal(body, 500, "try again"))
        return inner(body)

    return send


def slow() -> Ask:
    """Every eleventh request is given up after the time for it."""
    count = iter(range(10**6))
    inner = simulator({}).send

    def send(body: Mapping[str, Any]) -> Exchange:
        if next(count) % 11 == 5:
            raise Inconclusive("did not finish its reply within 1 seconds")
        return inner(body)

    return send


def gateway() -> Ask:
    """A gateway that renames reasoning, drops it from requests, and refuses what it does not know."""
    inner = simulator(THINKS).send

    def rename(message: dict[str, Any]) -> None:
        if "reasoning_content" in message:
            message["reasoning"] = message.pop("reasoning_content")

    def refuse(body: Mapping[str, Any]) -> str:
        known = {"model", "messages", "tools", "tool_choice", "stream", "stream_options", "max_tokens"}
        return "".join([f"unexpected key {key}" for key in sorted(set(body) - known)][:1])

    return rule_of(replies(inner, rename), refuse, 422)


def tags_and_traces() -> Ask:
    """Reasoning between tags, and another trace id in each refusal."""
    count = iter(range(10**6))
    inner = simulator({**THINKS, "reasoning.response-field": "think-tags"}).send

    def refuse(body: Mapping[str, Any]) -> str:
        answered = {each.get("tool_call_id") for each in turns(body, "tool")}
        calls = [call.get("id") for each in turns(body, "assistant") for call in each.get("tool_calls") or ()]
        missing = [each for each in calls if each not in answered]
        return f"Request {next(count):08x} failed: call {missing[0]} has no result" if missing else ""

    return rule_of(inner, refuse)


def required() -> Ask:
    return simulator(
        {**THINKS, "reasoning.omitted-on-tool-turn": {"status": 400, "message": "reasoning is missing"}}, "deepseek"
    ).send


ODD: Mapping[str, Odd] = {
    "ids that repeat": ids_that_repeat,
    "no results": no_results,
    "no tools": no_tools,
    "one call at a time": one_call_at_a_time,
    "flaky": flaky,
    "slow": slow,
    "gateway": gateway,
    "tags and traces": tags_and_traces,
    "reasoning required": required,
}


def found_of(odd: Odd) -> tuple[Interview, Discovery]:
    session = Interview(odd(), LIMIT, cases=CASES)
    return session, discover(session, "m")


def written(found: Discovery, path: Path) -> Profile:
    path.write_text(profile_text("Odd", "http://127.0.0.1:9/v1", "", [found], DAY), "utf-8")
    return load_profile(path)


def played_back(profile: Profile, ask: Ask) -> Iterator[str]:
    """Yield the breaches in the cases that are played again, and the claims that their replies contradict."""
    sent: list[Exchange] = []

    def send(body: Mapping[str, Any]) -> Exchange:
        sent.append(ask(body))
        return sent[-1]

    subject = Subject(profile, "m", send, Evidence.LIVE)
    for scenario, variant in CASES:
        yield from breaches(play(scenario, variant, subject))
    claims = profile.at("m", "")
    for exchange in sent:
        shown = collect([(exchange,)], claims)
        _, other = matching({name: [each.sight for each in seen] for name, seen in shown.items()}, claims)
        yield from [f"contradicted: {name}: {claims[name]}" for name in sorted(other)]


def marked() -> Iterator[Any]:
    for name in ODD:
        yield pytest.param(name, marks=() if name == "no results" else pytest.mark.slow)


@pytest.mark.parametrize("name", list(marked()))
def test_the_profile_of_an_odd_server_holds_when_it_is_played_back(name: str, tmp_path: Path) -> None:
    _, found = found_of(ODD[name])
    profile = written(found, tmp_path / "odd.yaml")
    assert [] == list(dict.fromkeys(played_back(profile, ODD[name]())))
