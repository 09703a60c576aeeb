"""`conformance explain`: every rule, claim, probe, scenario and provider is listed and explained."""

import json
from typing import Any

import pytest

from conformance import profiles, rules, scenarios
from conformance.adapters import loop
from conformance.cli import main
from conformance.profiles.naming import called
from tests.loops import every
from tests.sampling import some

RULES = rules.of_traffic()
LISTS = {
    "rules": [*(rule.id for rule in RULES), *(fact.id for fact in loop.load())],
    "providers": list(profiles.names()),
    "scenarios": list(scenarios.names()),
    "claims": list(profiles.vocabulary()),
    "probes": [probe.name for name in scenarios.names() for probe in scenarios.load(name).probes],
}


WIDE = "400"
"""So many columns that no line is wrapped."""


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert 0 == main(list(arguments))
    ended = capsys.readouterr()
    assert "" == ended.err
    return ended.out


@every("rule", some(RULES, 4, name=lambda rule: rule.id))
def test_the_explanation_of_a_rule_is_complete(
    rule: rules.Rule, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", WIDE)
    text = shown(capsys, "explain", rule.id)
    assert text.startswith(f"{rule.id}\n{rule.title}\n")
    assert f"level   {rule.level.value}\n" in text
    assert f"source  {rule.source.text}\n" in text
    assert rule.source.quote in text
    assert "\nTo fix it\n" in text
    assert len(rule.bad) == text.count("\nViolates the rule: ")
    assert len(rule.good) == text.count("\nFollows the rule: ")
    assert [name for name in rule.reads if f"\n  {name}" not in text] == []


def test_an_example_is_shown_as_what_differs_from_its_base(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "explain", "transcript/results-in-call-order")
    assert (
        "Violates the rule: fixtures/wire/tool-result-parallel.json with\n"
        '  - /0/request/messages/3/tool_call_id: "call_a"\n'
        '  + /0/request/messages/3/tool_call_id: "call_b"\n'
    ) in text


def test_the_claims_that_a_rule_reads_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "explain", "transcript/calls-answered")
    meaning = profiles.vocabulary()["results.missing"]
    assert f"  results.missing (how the provider handles a violation)\n    {meaning}\n" in text


def test_a_claim_is_explained_with_its_values_and_the_rules_that_read_it(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "explain", "results.missing")
    assert text.startswith(f"results.missing\n{profiles.vocabulary()['results.missing']}\n")
    assert "accepted: " in text
    assert "\nrules   transcript/calls-answered" in text


def test_a_glob_explains_each_match_once(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "explain", "transcript/*", "transcript/calls-answered", "results.*")
    assert [rule.id for rule in RULES if rule.family == "transcript"] == [
        line for line in text.splitlines() if line.startswith("transcript/") and " " not in line
    ]
    assert 1 == text.splitlines().count("results.missing")


@pytest.mark.parametrize("what", LISTS)
def test_a_list_has_every_name_once_in_both_formats(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(shown(capsys, "explain", what, "--format", "json"))
    assert LISTS[what] == [row.get("name", row.get("id")) for row in rows]
    text = shown(capsys, "explain", what).splitlines()
    assert LISTS[what] == [name for name in LISTS[what] if any(line.split()[0] == name for line in text)]


def test_without_a_name_every_name_that_can_be_explained_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = [block.partition("\n") for block in shown(capsys, "explain").rstrip().split("\n\n")]
    named = {heading.split()[1].rstrip(";"): " ".join(names.split()).split(", ") for heading, _, names in blocks}
    assert {what: [*dict.fromkeys(names)] for what, names in LISTS.items()} == named
    assert [f"{len(names)} {what}; `conformance explain {what}` describes each:" for what, names in named.items()] == [
        heading for heading, _, _ in blocks
    ]


def test_several_lists_are_an_object_of_arrays_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(shown(capsys, "explain", "scenarios", "providers", "--format", "json"))
    assert {what: LISTS[what] for what in ("scenarios", "providers")} == {
        what: [row["name"] for row in listed] for what, listed in rows.items()
    }
    assert shown(capsys, "explain", "scenarios") in shown(capsys, "explain", "scenarios", "providers")


def test_a_list_stands_beside_explanations(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "explain", "scenarios", "deepseek")
    assert text.startswith(shown(capsys, "explain", "scenarios"))
    assert "\n\ndeepseek (provider)\n" in text


@every("provider", some(profiles.names(), 8, mark=pytest.mark.exhaustive))
@every("what", LISTS)
def test_a_list_can_be_shown_for_each_provider(what: str, provider: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(shown(capsys, "explain", what, "--provider", provider, "--format", "json"))
    assert rows
    assert shown(capsys, "explain", what, "--provider", provider)


def test_the_claims_of_a_provider_have_values_and_sources(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[dict[str, Any]] = json.loads(
        shown(capsys, "explain", "claims", "--provider", "deepseek", "--format", "json")
    )
    assert {row["name"] for row in rows} <= set(profiles.vocabulary())
    assert all(row["sources"] and row["confidence"] and "value" in row for row in rows)
    text = shown(capsys, "explain", "claims", "--provider", "deepseek")
    assert 'reasoning.response-field = "reasoning_content"\n' in text
    assert rows[0]["sources"][0]["text"] in text


def test_the_rules_of_a_provider_show_how_it_handles_violations(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(shown(capsys, "explain", "rules", "--provider", "deepseek", "--format", "json"))
    handling = {row["id"]: row["a breach is"] for row in rows}
    assert "refused with 400" == handling["transcript/calls-answered"]


@pytest.mark.exhaustive
def test_every_probe_scenario_and_provider_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    names = {*LISTS["probes"], *LISTS["scenarios"], *LISTS["providers"]}
    lines = shown(capsys, "explain", *names).splitlines()
    assert names == {name for name in names if any(line.startswith(f"{name} (") for line in lines)}


@pytest.mark.parametrize(
    "name", ["absent-current-own", "probes/absent-current-own", "interleaved-thinking: absent-current-own"]
)
def test_a_probe_is_explained_by_every_name_that_reports_give_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "explain", name)
    assert "breaks  reasoning/present-on-tool-turns: " in text
    assert "claim   reasoning.omitted-on-tool-turn: " in text


def test_an_unknown_name_is_answered_with_three_names_of_any_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["explain", "bogus"])
    near = capsys.readouterr().err.partition("did you mean ")[2].strip(" ?\n").split(", ")
    every = {*LISTS, *(name for names in LISTS.values() for name in names), *called()}
    assert (3, set()) == (len(near), set(near) - every)
