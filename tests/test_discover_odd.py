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
from conformance.discovery.wires import profile_of
from conformance.discovery.writing import profile_text
from conformance.errors import Unusable
from conformance.observations.collected import collect
from conformance.observations.comparing import matching
from conformance.profiles import Profile
from conformance.results import Evidence
from conformance.simulator import Simulator, simulated
from conformance.suite.play import play
from conformance.suite.turns import Subject
from conformance.transport.client import Client, Endpoint, Inconclusive
from conformance.wire.exchange import Exchange

Ask = Callable[[Mapping[str, Any]], Exchange]
Odd = Callable[[], Ask]

LIMIT, DAY = 600, "2026-11-28"
PLAYED = ("plain-answer", "one-tool-call", "two-tool-turns", "parallel-tool-calls", "interleaved-thinking")
CASES = tuple([(scenarios.load(name), variant) for name in PLAYED for variant in ("plain", "stream")])

TOOLS = [scenarios.tool_definitions()["get_weather"]]
THINKS: Mapping[str, Any] = {"thinking.mode": "always", "reasoning.response-field": "reasoning_content"}


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


def same_ids(message: dict[str, Any]) -> None:
    for number, call in enumerate(message.get("tool_calls") or ()):
        if "id" in call:
            call["id"] = f"call_{'abc'[call.get('index', number)]}"


def one_id(message: dict[str, Any]) -> None:
    for call in message.get("tool_calls") or ():
        if "id" in call:
            call["id"] = "call_abc"


def ids_that_repeat() -> Ask:
    """The calls of every reply have the same ids."""
    return replies(simulator({}).send, same_ids)


def calls_split() -> Ask:
    """A message may make one call; the calls of a reply have to be split."""
    return simulator({"request.several-calls": {"status": 400, "message": "only one tool call per message"}}).send


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


def foreign_name(key: str, base: Ask | None = None, *, is_required: bool) -> Ask:
    """A server whose reasoning has a name of its own, in replies and in requests."""
    inner = base or simulator(THINKS).send

    def rename(message: dict[str, Any]) -> None:
        if "reasoning_content" in message:
            message[key] = message.pop("reasoning_content")

    def refuse(body: Mapping[str, Any]) -> str:
        last = max(at for at, each in enumerate(body["messages"]) if each["role"] == "user")
        current = [each for each in body["messages"][last:] if each.get("tool_calls")]
        return f"`{key}` must be sent back" if is_required and not all(each.get(key) for each in current) else ""

    def send(body: Mapping[str, Any]) -> Exchange:
        messages = [{name: value for name, value in each.items() if name != key} for each in body["messages"]]
        exchange = inner({**body, "messages": messages})
        return Exchange.of_plain(
            request=dict(body),
            response=exchange.response,
            status=exchange.status,
            streamed=exchange.streamed,
            headers=dict(exchange.headers),
            model=exchange.model,
        )

    return rule_of(replies(send, rename), refuse)


def foreign_required() -> Ask:
    return foreign_name("thinking_notes", is_required=True)


def foreign_optional() -> Ask:
    return foreign_name("inner_monologue", is_required=False)


def foreign_unnamed_required() -> Ask:
    return foreign_name("scratch", is_required=True)


ODD: Mapping[str, Odd] = {
    "foreign and required": foreign_required,
    "foreign and optional": foreign_optional,
    "foreign without a telling name": foreign_unnamed_required,
    "ids that repeat": ids_that_repeat,
    "calls split": calls_split,
    "no results": no_results,
    "no tools": no_tools,
    "one call at a time": one_call_at_a_time,
    "flaky": flaky,
    "slow": slow,
    "gateway": gateway,
    "tags and traces": tags_and_traces,
    "reasoning required": required,
}


IN_CI = ("foreign and required", "ids that repeat", "flaky", "gateway")
"""The odd servers beside "no results" that CI asks; the nightly run asks all."""


def found_of(odd: Odd) -> tuple[Interview, Discovery]:
    session = Interview(odd(), LIMIT, cases=CASES)
    return session, discover(session, "m")


def written(found: Discovery, path: Path) -> Profile:
    path.write_text(profile_text("Odd", "http://127.0.0.1:9/v1", "", [found], DAY), "utf-8")
    return load_profile(path)


def played_back(profile: Profile, ask: Ask, model: str = "m") -> Iterator[str]:
    """Yield the breaches in the cases that are played again, and the claims that their replies contradict."""
    sent: list[Exchange] = []

    def send(body: Mapping[str, Any]) -> Exchange:
        sent.append(ask(body))
        return sent[-1]

    subject = Subject(profile, model, send, Evidence.LIVE)
    for scenario, variant in CASES:
        yield from breaches(play(scenario, variant, subject))
    claims = profile.at(model, "")
    for exchange in sent:
        shown = collect([(exchange,)], claims)
        _, other = matching({name: [each.sight for each in seen] for name, seen in shown.items()}, claims)
        yield from [f"contradicted: {name}: {claims[name]}" for name in sorted(other)]


def test_a_server_that_refuses_everything_is_no_profile() -> None:
    ask = rule_of(simulator({}).send, lambda _: "go away")
    with pytest.raises(Unusable, match=r"rejects a plain question to m: HTTP 400: .*go away"):
        discover(Interview(ask, LIMIT, cases=CASES), "m")


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["anthropic.messages", "openai.responses"])
def test_the_profile_of_another_wire_holds_when_it_is_played_back(name: str) -> None:
    provider, wire = name.split(".")
    with simulated(load_profile(provider)) as url, Client(Endpoint(f"{url}/v1", wire=wire)) as client:
        session = Interview(client.send, LIMIT, wire=wire, cases=CASES)
        found = discover(session, load_profile(name).model)
        assert ([], []) == (found.broken, list(played_back(found.profile(), client.send, found.model)))


def test_a_breach_that_no_claim_covers_is_reported_at_discovery_and_again() -> None:
    ask = replies(simulator({}).send, one_id)
    found = discover(Interview(ask, LIMIT, cases=CASES[6:8]), "m")
    assert {"tool-calls/id-unique-in-reply"} == {line.split(": ")[1] for line in found.broken}
    assert "ids are not random" in found.open["ids.numbering"]
    assert found.broken == list(dict.fromkeys(played_back(found.profile(), ask)))


@pytest.fixture(scope="module")
def foreign() -> Discovery:
    return discover(Interview(foreign_required(), LIMIT, cases=(*CASES[2:3], *CASES[-2:])), "m")


@pytest.mark.slow
def test_a_foreign_field_of_reasoning_is_named(foreign: Discovery) -> None:
    claims = {name: each.value for name, each in foreign.claims.items()}
    assert ("key:thinking_notes", "key:thinking_notes") == (
        claims["reasoning.response-field"],
        claims["reasoning.request-field"],
    )
    assert {"status": 400, "message": "`thinking_notes` must be sent back"} == {
        name: claims["reasoning.omitted-on-tool-turn"][name] for name in ("status", "message")
    }
    assert "default-on" == claims["thinking.mode"]


def test_nothing_is_claimed_of_a_scenario_whose_unchanged_request_is_refused() -> None:
    _, found = found_of(no_results)
    assert [] == [name for name in found.claims if name.startswith("results.")]
    assert ({"one-tool-call.plain", "two-tool-turns.stream"}, []) == (
        {"one-tool-call.plain", "two-tool-turns.stream"} & found.skipped.keys(),
        found.broken,
    )


def test_what_was_seen_too_rarely_has_low_confidence() -> None:
    _, found = found_of(no_tools)
    once = found.claims["request.unknown-model"]
    assert ("low", "seen once", "high") == (once.confidence, once.note, found.claims["tools.supported"].confidence)


def test_calls_that_are_sent_one_a_message_are_one_turn_of_the_script() -> None:
    scenario = scenarios.load("parallel-tool-calls")
    sent: list[dict[str, Any]] = [{"role": "user", "content": scenario.prompts[0]}]
    for number, (city, degrees) in enumerate((("Madrid", "28.4"), ("Rome", "13.7"))):
        function = {"name": "get_weather", "arguments": json.dumps({"city": city})}
        call = {"id": f"chatcmpl-tool-{number:016x}", "type": "function", "function": function}
        sent.append({"role": "assistant", "content": None, "tool_calls": [call]})
        sent.append({"role": "tool", "tool_call_id": call["id"], "content": degrees})
    reply: Any = calls_split()({"model": "m", "messages": sent, "tools": TOOLS}).response
    assert "Madrid has 28.4 degrees and Rome has 13.7." == reply["choices"][0]["message"]["content"]


def test_where_unknown_ids_are_accepted_so_is_the_call_without_a_result() -> None:
    scenario = scenarios.load("one-tool-call")
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    body = {
        "model": "m",
        "messages": [
            {"role": "user", "content": scenario.prompts[0]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_9", "content": "18"},
        ],
        "tools": TOOLS,
    }
    verdicts: tuple[Any, ...] = ("accepted", "unknown", {"status": 422, "message": "no call {id}"})
    answers = [Simulator(profile_of({"results.unknown-id": each}, "chat")).send(body) for each in verdicts]
    assert [200, 400, 422] == [each.status for each in answers]


def marked() -> Iterator[Any]:
    for name in ODD:
        in_ci = pytest.mark.slow if name in IN_CI else pytest.mark.exhaustive
        yield pytest.param(name, marks=() if name == "no results" else in_ci)


@pytest.mark.parametrize("name", list(marked()))
def test_the_profile_of_an_odd_server_holds_when_it_is_played_back(name: str, tmp_path: Path) -> None:
    _, found = found_of(ODD[name])
    profile = written(found, tmp_path / "odd.yaml")
    assert [] == list(dict.fromkeys(played_back(profile, ODD[name]())))


@pytest.mark.slow
def test_the_profile_of_a_foreign_field_describes_its_server(foreign: Discovery, tmp_path: Path) -> None:
    profile = written(foreign, tmp_path / "odd.yaml")
    ask = Simulator(profile).send
    assert [] == list(dict.fromkeys(played_back(profile, ask)))
    call = interleaved(profile, ask)[0]
    assert "The temperature comes first" in call["thinking_notes"]


def interleaved(profile: Profile, ask: Ask) -> list[dict[str, Any]]:
    """Return the assistant messages with calls that the suite sends back."""
    sent: list[Mapping[str, Any]] = []

    def send(body: Mapping[str, Any]) -> Exchange:
        sent.append(body)
        return ask(body)

    play(scenarios.load("interleaved-thinking"), "stream", Subject(profile, "m", send, Evidence.LIVE))
    return [each for body in sent for each in turns(body, "assistant") if each.get("thinking_notes")]
