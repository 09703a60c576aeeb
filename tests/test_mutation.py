"""Mutations of good conversations: each is found by its own rule or a related one, and by no other."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from conformance import rules
from conformance.resources import folder
from conformance.wire.views import Side
from conformance.wires import NATIVE
from tests import mutation as mutate
from tests.loops import every
from tests.mutation import bases, catalogue, targets
from tests.mutation.__main__ import main
from tests.mutation.bases import Base, Record
from tests.mutation.definition import SURVIVED, Allowed, Mutation, mutation
from tests.mutation.mutants import Fate, Mutant, all_bases, difference, of_mutation, of_rule
from tests.mutation.report import render_score
from tests.sampling import some

MUTATIONS = catalogue.load()
IDS = [rule.id for rule in rules.load()]
ONE_IN = 24
"""One in so many mutations is applied in a plain run. CI applies all."""

SAMPLE = some(MUTATIONS, ONE_IN, name=lambda each: each.name)


@pytest.fixture(scope="module")
def score() -> dict[str, Any]:
    return mutate.run(rules.load(), mutants)


@cache
def mutants_named(name: str) -> list[Mutant]:
    return list(of_mutation(next(each for each in MUTATIONS if each.name == name)))


def mutants(each: Mutation) -> list[Mutant]:
    return mutants_named(each.name) if each in MUTATIONS else list(of_mutation(each))


@pytest.mark.slow
def test_each_fault_is_found_by_its_rule_or_a_related_one_and_by_no_other(score: dict[str, Any]) -> None:
    assert [] == score["unexplained"]


@pytest.mark.slow
def test_every_rule_finds_a_fault_by_itself(score: dict[str, Any]) -> None:
    assert [] == [row["rule"] for row in score["rules"] if not row["itself"]]


@pytest.mark.slow
def test_the_committed_score_is_the_one_that_is_measured(score: dict[str, Any]) -> None:
    committed = json.loads((folder("reports") / "mutation.json").read_bytes())
    assert score == committed, "the score has changed: run `python -m tests.mutation --write` and review the difference"


@every("each", SAMPLE)
def test_a_mutation_applies_somewhere_and_has_a_title(each: Mutation) -> None:
    assert mutants(each)
    assert each.title.endswith(".")
    assert "\n" not in each.title


@every("each", SAMPLE)
def test_the_rules_that_a_mutation_names_exist_and_find_it(each: Mutation) -> None:
    found = {rule for mutant in mutants(each) for rule in mutant.found}
    assert [] == [name for name in each.expects if name not in IDS]
    assert [] == [name for name in each.expects if name not in found] or SURVIVED in {it.what for it in each.allows}
    assert [] == [name for name in each.related if name not in found]


@every("each", some([each for each in MUTATIONS if each.allows], ONE_IN, name=lambda each: each.name))
def test_an_allowed_result_has_a_reason_and_occurs(each: Mutation) -> None:
    explained = {what for mutant in mutants(each) for what in mutant.explained}
    assert {allowed.what for allowed in each.allows} == explained
    assert all(allowed.why.endswith(".") for allowed in each.allows)


@every("each", some([each for each in MUTATIONS if each.harmless], ONE_IN, name=lambda each: each.name))
def test_no_rule_fails_on_a_harmless_change(each: Mutation) -> None:
    assert {(Fate.TOLERATED, ())} == {(mutant.fate, mutant.found) for mutant in mutants(each)}


NATIVE_FAMILIES = ("native/", "messages/", "responses/", "gemini/")


@every("rule", some([name for name in IDS if name.startswith(NATIVE_FAMILIES)], ONE_IN))
def test_a_mutation_of_the_catalogue_is_found_by_each_rule_of_other_wires(rule: str) -> None:
    killed = [each for each in MUTATIONS if rule in each.expects and any(rule in it.found for it in mutants(each))]
    assert killed, f"no mutation of tests/mutation/catalogue is found by {rule}"


@pytest.mark.parametrize("wire", NATIVE)
def test_every_wire_has_bases_and_mutations_of_both_sides(wire: str) -> None:
    own = [each for each in MUTATIONS if each.wire == wire]
    sides = {rule.on.side for rule in rules.load() for each in own if rule.id in each.expects}
    assert {Side.CLIENT, Side.PROVIDER} == sides
    assert any(each.harmless for each in own)
    assert any(each.sessions for each in own)
    assert all(bases.is_good(base) for group in all_bases(wire) for base in group)


def test_mutations_have_distinct_names() -> None:
    names = [each.name for each in MUTATIONS]
    assert sorted(set(names)) == names


def test_bases_are_good_and_come_in_both_forms() -> None:
    found = bases.sessions()
    assert {} == {base.name: rules for base in found if (rules := bases.broken(base.records()))}
    replies = [reply for base in found for reply in targets.replies_with_calls(base.records())]
    assert {True, False} == {reply.streamed for reply in replies}


def test_a_copy_of_a_base_is_changed_and_the_base_is_not() -> None:
    base = Base("one", b'[{"status":200}]')
    base.records()[0]["status"] = 500
    assert 200 == base.records()[0]["status"]


def plain(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record["status"] == 200][:1]


@mutation(plain, "usage/adds-up")
def harmless(record: Record) -> None:
    """A reply says who served it."""
    record["headers"]["server"] = "nginx"


@mutation(plain, "usage/adds-up", allows=[Allowed(SURVIVED, "No rule checks the server's name.", on="details-*")])
def harmless_and_allowed(record: Record) -> None:
    """A reply says who served it."""
    record["headers"]["server"] = "nginx"


@mutation(plain, "usage/adds-up", related=("http/status-known",))
def redirected(record: Record) -> None:
    """A reply redirects."""
    record["status"] = 302


@mutation(plain, "usage/adds-up")
def redirected_unexpectedly(record: Record) -> None:
    """A reply redirects."""
    record["status"] = 302


@mutation(plain)
def redirected_harmlessly(record: Record) -> None:
    """A reply redirects."""
    record["status"] = 302


@mutation(plain, "http/status-known")
def untouched(_record: Record) -> None:
    """Nothing is changed."""


def test_a_fault_that_no_rule_finds_survives() -> None:
    assert {Fate.SURVIVED} == {mutant.fate for mutant in mutants(harmless)}
    assert {(SURVIVED,)} == {mutant.unexplained for mutant in mutants(harmless)}


def test_an_allowed_result_counts_for_the_bases_that_it_names_and_no_other() -> None:
    explained = {
        mutant.base.startswith("details-") for mutant in mutants(harmless_and_allowed) if not mutant.unexplained
    }
    assert {True} == explained
    assert any(mutant.unexplained for mutant in mutants(harmless_and_allowed))


def test_a_fault_that_a_related_rule_finds_needs_no_reason() -> None:
    assert {Fate.RELATED} == {mutant.fate for mutant in mutants(redirected)}
    assert {()} == {mutant.unexplained for mutant in mutants(redirected)}


def test_a_rule_that_was_not_named_gives_a_false_positive() -> None:
    assert {Fate.OTHERS} == {mutant.fate for mutant in mutants(redirected_unexpectedly)}
    assert {("http/status-known",)} == {mutant.unexplained for mutant in mutants(redirected_unexpectedly)}


def test_a_rule_that_fails_on_a_harmless_change_gives_a_false_positive() -> None:
    assert {Fate.OTHERS} == {mutant.fate for mutant in mutants(redirected_harmlessly)}
    assert {("http/status-known",)} == {mutant.unexplained for mutant in mutants(redirected_harmlessly)}


def test_what_changes_nothing_is_no_mutant() -> None:
    assert [] == mutants(untouched)


@every("rule", some(rules.load(), 4, name=lambda rule: rule.id))
def test_a_bad_example_is_a_mutant_that_its_rule_finds_alone(rule: rules.Rule) -> None:
    assert {(Fate.ITSELF, (rule.id,))} == {(mutant.fate, mutant.found) for mutant in of_rule(rule)}


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("/a: 1 is now 2", {"a": 1, "b": 1}, {"a": 2, "b": 1}),
        ("/a: gone", {"a": 1}, {}),
        ("/b: new, 1", {"a": 1}, {"a": 1, "b": 1}),
        ("/1/a: 1 is now null", [{}, {"a": 1}], [{}, {"a": None}]),
        ("/1: 2 items are now 1, here the end", [1, 2], [1]),
        ("/0: 2 items are now 3, here 0", [1, 2], [0, 1, 2]),
    ],
)
def test_a_change_is_described_by_its_first_difference(text: str, before: object, after: object) -> None:
    assert text == difference(before, after)


def test_the_command_prints_a_row_for_each_rule_and_the_sum(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--rule", "usage/reported-once"])
    printed = capsys.readouterr().out
    assert 0 == code
    assert "usage/reported-once " in printed
    assert "usage/adds-up" not in printed
    assert " mutants: " in printed


def test_the_command_prints_the_score_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--rule", "usage/*", "--format", "json"])
    printed = json.loads(capsys.readouterr().out)
    assert [each for each in IDS if each.startswith("usage/")] == [row["rule"] for row in printed["rules"]]


def test_the_score_of_some_rules_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--rule", "usage/*", "--write"])
    assert "omit --rule" in capsys.readouterr().err


def test_a_report_shows_unexpected_results_and_rules_without_mutations() -> None:
    counts = {"mutants": 2, "itself": 1, "related": 0, "others": 0, "survived": 1}
    hole = {"from": "cut", "expects": ["a/b"], "wrong": "survived", "times": 1, "base": "plain", "change": "/0: 1"}
    row = {"rule": "a/b", "examples": 1, "mutations": 0, **counts, "false_positives": 0}
    total = {**counts, "harmless": 0, "with_false_positives": 0, "unexplained": 1}
    score = {"bases": {"sessions": 1, "exchanges": 2}, "total": total, "rules": [row], "mutations": []}
    text = "\n".join(render_score({**score, "unexplained": [hole], "explained": [{**hole, "why": "It may."}]}))
    assert "cut (for a/b): survived, 1 time\n    first in plain: /0: 1" in text
    assert "first in plain: /0: 1\n    It may." in text
    assert "because no mutation of the catalogue is for them:\n  a/b (1 examples)" in text
