"""The rules judged by their own examples: the proof that each can fail, and fails alone."""

from pathlib import Path

import pytest

from conformance import rules
from conformance.documents import read_json
from conformance.engine import check
from conformance.profiles import of
from conformance.resources import folder
from conformance.results import Status
from conformance.rules import Example, Rule

FAMILIES = {"shape", "request", "transcript", "tool-calls", "reasoning", "response", "stream", "usage", "error", "http"}
BASES = sorted(path.stem for path in (folder("fixtures") / "wire").glob("*.json"))


def examples(kind: str) -> list[object]:
    return [
        pytest.param(rule, example, id=f"{rule.id}-{number}")
        for rule in rules.load()
        for number, example in enumerate(getattr(rule, kind), 1)
    ]


def broken(example: Example) -> dict[str, list[str]]:
    outcomes = check(example.conversation(), of(example.claims) if example.claims else None)
    assert not [outcome for outcome in outcomes if outcome.status is Status.ERRORED]
    return {each.rule: [found.message for found in each.findings] for each in outcomes if each.status is Status.FAILED}


@pytest.mark.parametrize(("rule", "example"), examples("bad"))
def test_a_bad_example_breaks_its_rule_and_no_other(rule: Rule, example: Example) -> None:
    assert [rule.id] == list(broken(example))


@pytest.mark.parametrize(("rule", "example"), examples("good"))
def test_a_good_example_is_judged_by_its_rule_and_breaks_none(rule: Rule, example: Example) -> None:
    outcomes = check(example.conversation(), of(example.claims) if example.claims else None)
    judged = {outcome.rule: outcome.judged for outcome in outcomes}
    assert {} == broken(example)
    assert judged[rule.id] > 0


@pytest.mark.parametrize("base", BASES)
def test_a_base_breaks_no_rule(base: str) -> None:
    assert {} == broken(Example(base))


def test_every_family_has_rules() -> None:
    assert {rule.family for rule in rules.load()} == FAMILIES


@pytest.mark.parametrize("rule", rules.load(), ids=lambda rule: rule.id)
def test_a_rule_says_what_it_judges_why_and_how_to_mend_it(rule: Rule) -> None:
    assert rule.bad
    assert rule.title.endswith(".")
    assert len(rule.title) <= 100
    assert "to mend it" in rule.doc.lower()
    assert rule.source.url.startswith(("https://", "schemas/"))


@pytest.mark.parametrize("rule", rules.load(), ids=lambda rule: rule.id)
def test_a_local_source_holds_the_words_that_are_quoted(rule: Rule) -> None:
    if rule.source.url.startswith("schemas/"):
        path = folder("schemas").parent / Path(rule.source.url)
        schema = read_json(path)
        assert isinstance(schema, dict)
        assert rule.source.quote in schema["description"]
