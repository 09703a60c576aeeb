"""Scenarios: their files keep their promises, and the first user message identifies each of them."""

from typing import Any

import pytest

from conformance import faults, profiles, rules, scenarios
from conformance.documents import read_json
from conformance.resources import folder
from conformance.results import Evidence, Status
from conformance.rules import Rule
from conformance.scenarios import Deviation, Probe, Scenario, ScriptTurn
from conformance.simulator import Simulator, chunks, faulty, replies
from conformance.simulator.reply_context import ReplyContext
from conformance.suite.changed_requests import Inapplicable
from conformance.suite.play import play
from conformance.suite.probes import CHANGES, with_changes
from conformance.suite.turns import Subject
from conformance.wire.assemble import assemble
from conformance.wire.native import CHAT, NativeEvent
from conformance.wire.sse import read
from conformance.wire.views import Side
from tests.loops import every

SCENARIOS = [scenarios.load(name) for name in scenarios.names()]
PROBES = [(scenario, probe) for scenario in SCENARIOS for probe in scenario.probes]
RULES: dict[str, Rule] = {rule.id: rule for rule in rules.load()}

CALL = {"id": "call_a", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Oslo"}'}}
TRANSCRIPT: list[dict[str, Any]] = [
    {"role": "user", "content": "Weather?"},
    {"role": "assistant", "content": "", "reasoning_content": "Look.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_a", "content": "9"},
]


def schema() -> Any:
    return read_json(folder("schemas") / "files" / "scenario.json")


def change(name: str, body: dict[str, Any], **parameters: str) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = with_changes(body, [Deviation(name, parameters)], TRANSCRIPT, {})["messages"]
    return made


def test_the_first_user_message_identifies_a_scenario_for_providers() -> None:
    first = [scenario.prompts[0] for scenario in SCENARIOS if not scenario.for_clients]
    assert sorted(set(first)) == sorted(first)


def test_the_schema_names_every_change_and_every_stream_fault() -> None:
    definitions = schema()["$defs"]
    assert sorted(CHANGES) == sorted(definitions["change-name"]["enum"])
    assert {*definitions["raw"]["items"]["enum"]} <= {*faults.names()}


@every(("scenario", "probe"), PROBES, ids=lambda each: each.name)
def test_a_probe_names_a_rule_about_clients_and_known_claims(scenario: Scenario, probe: Probe) -> None:
    assert probe.at <= len(scenario.turns)
    assert probe.breaks is None or RULES[probe.breaks].on.side is Side.CLIENT
    assert set() == set(probe.claims) - profiles.vocabulary().keys()


@every("scenario", SCENARIOS, ids=lambda each: each.name)
def test_probes_of_a_scenario_have_different_names(scenario: Scenario) -> None:
    names = [probe.name for probe in scenario.probes]
    assert sorted(set(names)) == sorted(names)


def test_a_change_does_not_modify_the_original_body() -> None:
    body = {"messages": [dict(message) for message in TRANSCRIPT]}
    assert "b" == change("results-unknown", body)[2]["tool_call_id"][-1:]
    assert "call_a" == body["messages"][2]["tool_call_id"]


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("reasoning-absent", {"on": "current"}, None),
        ("reasoning-empty", {"on": "current"}, ""),
        ("reasoning-altered", {"on": "current"}, "Look. Or so it seems."),
        ("ids", {"form": "positional"}, "Look."),
    ],
)
def test_reasoning_is_sent_back_as_the_change_says(name: str, parameters: dict[str, str], expected: str | None) -> None:
    made = change(name, {"messages": TRANSCRIPT}, **parameters)
    assert expected == made[1].get("reasoning_content")


def test_reasoning_in_another_field_is_in_no_other() -> None:
    made = change("reasoning-under", {"messages": TRANSCRIPT}, field="reasoning")
    assert ("Look.", None) == (made[1].get("reasoning"), made[1].get("reasoning_content"))


def test_a_foreign_id_is_in_call_and_result() -> None:
    made = change("ids", {"messages": TRANSCRIPT}, form="positional")
    ids = {made[1]["tool_calls"][0]["id"], made[2]["tool_call_id"]}
    assert {"functions.get_weather:0"} == ids


@pytest.mark.parametrize("name", ["details-reordered", "signatures-dropped", "ids-colliding-in-message"])
def test_a_change_with_nothing_to_change_is_not_applicable(name: str) -> None:
    with pytest.raises(Inapplicable):
        change(name, {"messages": TRANSCRIPT})


def test_a_raw_turn_is_played_to_clients_and_never_against_a_provider() -> None:
    profile = profiles.load("openai")
    subject = Subject(profile, profile.model, Simulator(profile).send, Evidence.LIVE)
    case = play(scenarios.load("cut-stream"), "stream", subject)
    assert () == case.outcomes
    assert case.note.startswith("not played")


ANOMALIES = {
    "cut": {"cut", "done-missing"},
    "error-inside": {"error-in-band", "cut", "done-missing"},
    "finished-twice": {"finish"},
    "interleaved": {"finish", "interleaved"},
}


@pytest.mark.parametrize("name", sorted(ANOMALIES))
def test_a_raw_stream_shows_its_fault(name: str) -> None:
    forecast = ("get_forecast", {"city": "Paris", "day": "tomorrow", "unit": "celsius"})
    turn = ScriptTurn("Hi", says="Hello there, how are you today?", calls=(forecast, forecast))
    context = ReplyContext({}, {"messages": []}, thinks=False)
    good = [NativeEvent("", each) for each in chunks.events(context, replies.choices(context, turn))]
    sent = b"".join(map(faults.event_bytes, faulty.with_named((name,), CHAT, good)))
    anomalies = assemble(read(sent.decode())).anomalies
    assert ANOMALIES[name] == anomalies.keys()
    assert name != "finished-twice" or len(anomalies["finish"]) == 2


def test_a_probe_that_was_never_reached_is_untested() -> None:
    profile = profiles.load("openai")

    def send(body: Any) -> Any:
        return Simulator(profile).send({name: value for name, value in body.items() if name != "tools"})

    case = play(scenarios.load("one-tool-call"), "plain", Subject(profile, profile.model, send, Evidence.LIVE))
    assert "ended before turn 2: the model called no tool" == case.note
    assert {Status.UNTESTED} == {probe.status for probe in case.probes if probe.name == "control"}
