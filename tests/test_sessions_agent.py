"""A conforming agent breaks no rule in any scenario; one with a single fault breaks the rule about that fault."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import httpx
import pytest

from conformance import profiles, rules, scenarios
from conformance.judge import check
from conformance.profiles import Profile
from conformance.results import Level, Outcome, Status
from conformance.scenarios import Scenario
from conformance.simulator.sessions import ScenarioSession, SessionServer, serving_sessions
from conformance.wire.native import CHAT
from conformance.wire.views import Side
from tests.agents import Agent, Ask, Broken, Edit, directly
from tests.loops import every
from tests.sampling import sampled

LOADED = {name: profiles.load(name) for name in profiles.names()}
LISTED = [scenarios.load(name) for name in scenarios.names()]
EVERY = [scenario for scenario in LISTED if scenario.for_clients and not scenario.history]
"""The scenarios of clients, but those with a history, which this agent does not take."""

ENDLESS = ("cut-stream", "error-inside-stream")
"""Scenarios whose replies never end, so an agent has to give up."""

FIELDS = ("deepseek", "gemini_openai_compat", "minimax", "mistral", "moonshot", "openai", "openrouter", "vllm")
"""Providers that differ in reasoning fields, and in what they require of ids, arguments and content."""

STRICT = ("deepseek", "mistral", "moonshot", "openrouter")
"""Providers that refuse many deviations."""

SIDES = {rule.id: rule.on.side for rule in rules.load()}


def playable(names: tuple[str, ...], chosen: list[Scenario]) -> list[Any]:
    return sampled(cases(names, chosen), 1, whole=["deepseek"], in_ci=6)


def cases(names: tuple[str, ...], chosen: list[Scenario]) -> Iterator[Any]:
    for name in names:
        for scenario in chosen:
            if CHAT in scenario.wires and scenario.unmet(LOADED[name].at(LOADED[name].model)) is None:
                for variant in scenario.variants:
                    yield pytest.param(name, scenario.name, variant, id=f"{name}-{scenario.name}.{variant}")


def run_agent(profile: Profile, scenario: Scenario, variant: str, *, edit: Edit = list, strict: bool = False) -> Agent:
    session = SessionServer().open(scenario, profile, variant, strict=strict)
    return over(session, directly(session), edit)


def over(session: ScenarioSession, ask: Ask, edit: Edit = list) -> Agent:
    agent = Agent(session, ask, edit)
    try:
        agent.run()
    except Broken as error:
        agent.texts.append(f"Broken: {error}")
    return agent


def outcomes(session: ScenarioSession, side: Side = Side.CLIENT) -> list[Outcome]:
    return [each for each in check(session.exchanges, session.profile) if SIDES[each.rule] is side]


def broken(session: ScenarioSession, side: Side = Side.CLIENT, level: Level = Level.MUST) -> dict[str, str]:
    return {
        each.rule: each.reason or each.findings[0].message
        for each in outcomes(session, side)
        if each.status is Status.ERRORED or (each.status is Status.FAILED and each.level.severity >= level.severity)
    }


@cache
def conforming(name: str, scenario: str, variant: str) -> Agent:
    return run_agent(LOADED[name], scenarios.load(scenario), variant)


each_case = every(("name", "scenario", "variant"), playable(FIELDS, EVERY))


@each_case
def test_a_conforming_agent_follows_every_rule(name: str, scenario: str, variant: str) -> None:
    session = conforming(name, scenario, variant).session
    assert {} == broken(session, level=Level.MAY)
    assert ("", []) == (session.fault, session.other_requests)


@every(("name", "scenario", "variant"), playable(profiles.names(), [scenarios.load("agent-session")]))
def test_an_agent_session_ends_with_every_provider(name: str, scenario: str, variant: str) -> None:
    agent = conforming(name, scenario, variant)
    assert {} == broken(agent.session, level=Level.MAY)
    assert 5 == len(agent.session.exchanges)


@each_case
def test_a_promised_rule_finds_something_to_check(name: str, scenario: str, variant: str) -> None:
    idle = {
        outcome.rule: outcome.reason
        for outcome in outcomes(conforming(name, scenario, variant).session)
        if outcome.status is Status.NOT_APPLICABLE
        and any(fnmatchcase(outcome.rule, glob) for glob in scenarios.load(scenario).exercises)
    }
    assert {} == idle


@every("scenario", EVERY, ids=lambda each: each.name)
def test_each_promise_names_a_rule_about_clients(scenario: Scenario) -> None:
    clients = [rule for rule, side in SIDES.items() if side is Side.CLIENT]
    assert [] == [glob for glob in scenario.exercises if not any(fnmatchcase(rule, glob) for rule in clients)]


@each_case
def test_replies_break_the_rules_that_the_scenario_names_and_no_other(name: str, scenario: str, variant: str) -> None:
    found = broken(conforming(name, scenario, variant).session, Side.PROVIDER)
    assert set(scenarios.load(scenario).breaks) == found.keys()


@each_case
def test_a_conforming_agent_gets_the_texts_of_the_script(name: str, scenario: str, variant: str) -> None:
    texts = conforming(name, scenario, variant).texts
    if scenario in ENDLESS:
        assert texts[0].startswith("Broken: the stream holds")
    else:
        assert [turn.says for turn in scenarios.load(scenario).turns if not turn.calls] == texts


@every(("name", "scenario", "variant"), playable(STRICT, EVERY))
def test_a_strict_session_refuses_no_request_of_a_conforming_agent(name: str, scenario: str, variant: str) -> None:
    agent = run_agent(LOADED[name], scenarios.load(scenario), variant, strict=True)
    assert [] == agent.session.refusals


def test_it_is_the_same_over_http() -> None:
    scenario, profile = scenarios.load("agent-session"), LOADED["deepseek"]

    def asking(session: ScenarioSession, client: httpx.Client) -> Ask:
        def ask(body: dict[str, Any]) -> tuple[int, bytes]:
            reply = client.post(f"{session.base_url}/chat/completions", json=body)
            return reply.status_code, reply.content

        return ask

    with serving_sessions() as server, httpx.Client() as client:
        session = server.open(scenario, profile, "stream")
        agent = over(session, asking(session, client))
    direct = run_agent(profile, scenario, "stream")
    assert direct.texts == agent.texts
    assert [each.response for each in direct.session.exchanges] == [each.response for each in session.exchanges]


def edited(change: Callable[[dict[str, Any]], None]) -> Edit:
    """Return an edit that changes each message."""

    def edit(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        copies = deepcopy(messages)
        for message in copies:
            change(message)
        return copies

    return edit


def without_reasoning(message: dict[str, Any]) -> None:
    message.pop("reasoning_content", None)


def serialized_anew(message: dict[str, Any]) -> None:
    for call in message.get("tool_calls", ()):
        call["function"]["arguments"] = call["function"]["arguments"].replace('":', '" : ')


def made_an_object(message: dict[str, Any]) -> None:
    for call in message.get("tool_calls", ()):
        call["function"]["arguments"] = '{"INVALID_JSON": "?"}'


def echoing_the_index(message: dict[str, Any]) -> None:
    for position, call in enumerate(message.get("tool_calls", ())):
        call["index"] = position


def renamed(message: dict[str, Any]) -> None:
    for call in message.get("tool_calls", ()):
        call["id"] = call["id"].replace(".", "_").replace(":", "_")
    if "tool_call_id" in message:
        message["tool_call_id"] = message["tool_call_id"].replace(".", "_").replace(":", "_")


def in_another_order(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    made = list(messages)
    for at in range(len(made) - 1):
        if made[at]["role"] == made[at + 1]["role"] == "tool":
            made[at], made[at + 1] = made[at + 1], made[at]
    return made


def without_the_first_tool_turn(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    users = [at for at, message in enumerate(messages) if message["role"] == "user"]
    return messages if len(users) < 2 else [message for at, message in enumerate(messages) if not 2 <= at < 5]


def without_the_first_prompt(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    users = [at for at, message in enumerate(messages) if message["role"] == "user"]
    return [message for at, message in enumerate(messages) if at not in users[:-1]]


def one_call_a_message(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    made = []
    results = {message["tool_call_id"]: message for message in messages if message["role"] == "tool"}
    for message in messages:
        for call in message.get("tool_calls", ()):
            made += [message | {"tool_calls": [call]}, *[results[each] for each in [call["id"]] if each in results]]
        if message["role"] != "tool" and "tool_calls" not in message:
            made.append(message)
    return made


def without_one_result(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    tools = [at for at, message in enumerate(messages) if message["role"] == "tool"]
    return [message for at, message in enumerate(messages) if at not in tools[:1]]


UNCHANGED = "transcript/reply-resent-unchanged"
FAULTY_EDITS: list[tuple[str, str, Edit, str, Level]] = [
    ("deepseek", "agent-session", edited(without_reasoning), "reasoning/present-on-tool-turns", Level.MUST),
    ("xai", "agent-session", edited(without_reasoning), "reasoning/resent-on-tool-turns", Level.MUST),
    ("openai", "agent-session", in_another_order, "transcript/results-in-call-order", Level.SHOULD),
    ("openai", "agent-session", without_the_first_tool_turn, "transcript/history-append-only", Level.SHOULD),
    ("openai", "agent-session", without_the_first_prompt, "transcript/no-user-message-lost", Level.MUST),
    ("openai", "agent-session", one_call_a_message, UNCHANGED, Level.MUST),
    ("openai", "agent-session", edited(echoing_the_index), "request/no-unknown-fields", Level.SHOULD),
    ("openai", "tool-fails", without_one_result, "transcript/calls-answered", Level.MUST),
    ("openai", "tool-denied", without_one_result, "transcript/calls-answered", Level.MUST),
    ("deepseek", "arguments-verbatim", edited(serialized_anew), UNCHANGED, Level.SHOULD),
    ("openai", "arguments-malformed", edited(made_an_object), UNCHANGED, Level.MUST),
    ("moonshot", "ids-kimi", edited(renamed), UNCHANGED, Level.MUST),
    ("openai", "ids-kimi", edited(renamed), UNCHANGED, Level.SHOULD),
]


@every(("provider", "name", "edit", "rule", "level"), FAULTY_EDITS)
def test_a_faulty_edit_is_caught_by_its_rule(provider: str, name: str, edit: Edit, rule: str, level: Level) -> None:
    session = run_agent(LOADED[provider], scenarios.load(name), "plain", edit=edit).session
    found: Mapping[str, Level] = {each.rule: each.level for each in outcomes(session) if each.status is Status.FAILED}
    assert level == found.get(rule), found


@pytest.mark.parametrize("name", ["details-signed", "details-summarised"])
@pytest.mark.parametrize("variant", scenarios.VARIANTS)
def test_a_lost_id_of_an_encrypted_detail_is_caught(name: str, variant: str) -> None:
    def lose(message: dict[str, Any]) -> None:
        for detail in message.get("reasoning_details", ()):
            detail.pop("id", None)

    session = run_agent(LOADED["openrouter"], scenarios.load(name), variant, edit=edited(lose)).session
    assert {"reasoning/details-unchanged"} == broken(session).keys()


def test_a_lost_signature_of_a_call_is_caught() -> None:
    def lose(message: dict[str, Any]) -> None:
        for call in message.get("tool_calls", ()):
            call.pop("extra_content", None)

    session = run_agent(
        LOADED["gemini_openai_compat"], scenarios.load("agent-session"), "plain", edit=edited(lose)
    ).session
    assert {"reasoning/signatures-resent"} == broken(session).keys()


def test_a_strict_session_refuses_like_the_provider_and_names_the_rule() -> None:
    agent = run_agent(
        LOADED["deepseek"], scenarios.load("agent-session"), "stream", edit=edited(without_reasoning), strict=True
    )
    (refused,) = agent.session.refusals
    assert (1, "reasoning/present-on-tool-turns", 400) == (refused.exchange, refused.rule, refused.refusal.status)
    assert "must be passed back" in agent.texts[0]
