"""Scenario files: what they may contain, what they inherit, and errors with file, line and message."""

from pathlib import Path

import pytest

from conformance import scenarios
from conformance.errors import InvalidDocument
from conformance.profiles import UNKNOWN
from conformance.scenarios import Scenario, ScriptTurn

HEAD = """\
title: Something happens.
for: clients
expects: The client copes.
source: {url: https://example.com}
"""
TURNS = """\
exercises: [shape/request]
tools: [get_weather, get_time]
turns:
  - user: Hi
    calls:
      - get_weather: {city: Oslo}
      - get_time: '{"city":'
  - results: ["9", "?"]
    delays: [20, 0]
    fails: [1]
    denied: [0]
    calls: [{get_time: {}}]
  - results: ["10:00"]
    says: Bye
"""


def written(folder: Path, text: str) -> Scenario:
    path = folder / "made.yaml"
    path.write_text(text, "utf-8")
    return scenarios.read(path)


def test_a_file_says_what_tools_do(tmp_path: Path) -> None:
    turn = written(tmp_path, HEAD + TURNS).turns[1]
    assert ((20, 0), (1,), (0,)) == (turn.delays, turn.fails, turn.denied)


def test_arguments_are_objects_or_text(tmp_path: Path) -> None:
    calls = written(tmp_path, HEAD + TURNS).turns[0].calls
    assert (("get_weather", {"city": "Oslo"}), ("get_time", '{"city":')) == calls


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("call_{position}", [("call_0", "call_1"), ("call_0",), ()]),
        ("f.{name}:{number}", [("f.get_weather:0", "f.get_time:1"), ("f.get_time:2",), ()]),
        ("call_{turn}", [("call_0", "call_0"), ("call_1",), ()]),
        ("", [("", ""), ("",), ()]),
    ],
)  # fmt: skip
def test_ids_count_as_their_template_says(template: str, expected: list[tuple[str, ...]], tmp_path: Path) -> None:
    made = written(tmp_path, f"{HEAD}{TURNS}ids: '{template}'\n")
    assert expected == [turn.ids for turn in made.turns]
    assert UNKNOWN == made.claims["ids.input-pattern"]


def test_a_scenario_inherits_what_it_does_not_set_itself(tmp_path: Path) -> None:
    agent = scenarios.load("agent-session")
    made = written(tmp_path, HEAD + "like: agent-session\nvariants: [stream]\nraw: [cut]\n")
    assert (agent.tools, agent.system, agent.exercises, agent.prompts) == (
        made.tools, made.system, made.exercises, made.prompts,
    )  # fmt: skip
    assert (("stream",), {("cut",)}) == (made.variants, {turn.raw for turn in made.turns})
    assert "Something happens." == made.title


@pytest.mark.parametrize(
    ("claims", "met"),
    [
        ({"reasoning.response-field": "reasoning_details"}, True),
        ({"reasoning.response-field": ["reasoning", "reasoning_details"]}, True),
        ({"reasoning.response-field": "reasoning"}, False),
        ({"reasoning.response-field": UNKNOWN}, False),
        ({}, False),
    ],
)
def test_a_need_with_a_value_is_met_if_the_claim_equals_or_lists_it(claims: dict[str, object], met: bool) -> None:  # noqa: FBT001 — a row
    scenario = Scenario("x", "x", (), (ScriptTurn("Hi"),), needs={"reasoning.response-field": "reasoning_details"})
    assert (None if met else "reasoning.response-field") == scenario.unmet(claims)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (HEAD + TURNS + "claims: {stream.indx: absent}\n", 19, "unknown claim 'stream.indx'; did you mean stream"),
        (HEAD + TURNS + "claims: {stream.index: sometimes}\n", 19, 'expected "present", "absent"'),
        (HEAD + TURNS + "needs: [tools.suported]\n", 19, "did you mean tools.supported"),
        (HEAD + "like: agent-sesion\n", 5, "unknown scenario 'agent-sesion'; did you mean agent-session"),
        (HEAD + "like: ids-empty\n", 5, "expected a scenario that has no `like` itself, got 'ids-empty'"),
        (HEAD + TURNS.replace("fails: [1]", "fails: [2]"), 14, "expected the position of one of 2 calls, got 2"),
        (HEAD + TURNS.replace("delays: [20, 0]", "delays: [0, 0, 0]"), 13, "expected at most 2 delays, got 3"),
        (HEAD + TURNS.replace("get_time: {}", "get_tim: {}"), 16, "unknown tool of this scenario 'get_tim'"),
        (HEAD + TURNS.replace("tools: [get_weather,", "tools: [get_whether,"), 6, "unknown tool 'get_whether'"),
        (HEAD + TURNS + "ids: call_{place}\n", 19, "expected a template with the fields {turn}, {position}"),
        (HEAD + TURNS + "ids: 'call_{'\n", 19, "expected a template"),
        (HEAD + TURNS + "raw: [melted]\n", 19, "melted"),
        (HEAD.replace("for: clients\n", "") + TURNS, 12, "expected no value"),
        (HEAD.replace("expects: The client copes.\n", "") + TURNS, 1, "expects"),
        (HEAD + TURNS + "  - results: [x]\n    says: y\n", 19, "since the previous turn has no calls"),
        (HEAD, 1, 'expected the key "exercises"'),
        (HEAD + TURNS + "ids: '{name.upper}'\n", 19, "expected a template"),
    ],
)  # fmt: skip
def test_an_invalid_file_is_refused_with_its_line(text: str, line: int, words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument) as caught:
        written(tmp_path, text)
    assert words in caught.value.message
    assert line == caught.value.line
