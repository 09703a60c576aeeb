"""Answers at first sight: what the values of claims and the failures of rules mean, and on what they rest."""

from pathlib import Path
from typing import Any

import pytest

from conformance import profiles
from conformance.profiles import Profile
from conformance.reporting.answers import ASSUMED, SENT, Meaning, SubjectAnswer
from conformance.reporting.answers.adapters import adapter_answers
from conformance.reporting.answers.changes import changes
from conformance.reporting.answers.providers import provider_answers
from conformance.reporting.matrix.table import Inputs
from conformance.reporting.page.facts import age
from conformance.results import Evidence, Level, Outcome, Status
from conformance.results.runs import Case, Results

FIELD, OMITTED, IDS, ORDER = range(4)
REFUSED = "{status: 400}"
SOURCE = "{url: https://example.com/a, read: 2026-11-20}"


def profile(folder: Path, claims: dict[str, str], models: str = "") -> Profile:
    lines = [f"  {name}: {{value: {value}, source: {SOURCE}, confidence: high}}" for name, value in claims.items()]
    path = folder / "p.yaml"
    base = "title: P\nkind: host\nbase_url: https://p.example\nkey: P_KEY\nmodel: m\n"
    path.write_text("\n".join([f"{base}{models}claims:", *lines, ""]))
    return profiles.read(path)


def answers_of(made: Profile, **more: Any) -> tuple[SubjectAnswer, ...]:
    inputs = Inputs((Results("p", "m", ()),), {"p": made}, **more)
    (found,) = provider_answers(inputs)
    assert ("p", "chat") == (found.subject, found.protocol)
    return tuple(found.answers)


@pytest.mark.parametrize(
    ("number", "claims", "value", "meaning", "notes"),
    [
        (FIELD, {"reasoning.response-field": "reasoning_content"}, "reasoning_content", Meaning.WORKS, ()),
        (
            FIELD,
            {"reasoning.response-field": "unknown"},
            "unknown",
            Meaning.UNKNOWN,
            ("send back reasoning_content (assumed)",),
        ),
        (
            FIELD,
            {"reasoning.response-field": "reasoning", "reasoning.request-field": "unknown"},
            "reasoning",
            Meaning.BEWARE,
            ("what to send back is unknown",),
        ),
        (FIELD, {"reasoning.response-field": "none"}, "none", Meaning.WORKS, ("replies carry no reasoning",)),
        (IDS, {"ids.optional": "true"}, "optional", Meaning.BEWARE, ("else paired by name and order",)),
        (
            OMITTED,
            {"reasoning.omitted-on-tool-turn": "accepted", "signature.omitted": REFUSED},
            "400",
            Meaning.BREAKS,
            ("signatures of calls",),
        ),
        (
            OMITTED,
            {"reasoning.response-field": "none", "signature.omitted": REFUSED},
            "400",
            Meaning.BREAKS,
            ("signatures of calls",),
        ),
        (
            OMITTED,
            {"reasoning.omitted-on-tool-turn": REFUSED},
            "400",
            Meaning.BREAKS,
            ("current tool turn, earlier ones unknown",),
        ),
        (
            OMITTED,
            {"reasoning.omitted-on-tool-turn": REFUSED, "reasoning.omitted-on-earlier-tool-turn": REFUSED},
            "400",
            Meaning.BREAKS,
            ("every tool turn",),
        ),
        (
            OMITTED,
            {
                "reasoning.omitted-on-tool-turn": REFUSED,
                "reasoning.omitted-on-earlier-tool-turn": REFUSED,
                "reasoning.omitted-on-plain-turn": REFUSED,
                "reasoning.empty-on-tool-turn": "damaged",
            },
            "400",
            Meaning.BREAKS,
            ("every turn", "empty: damaged"),
        ),
        (OMITTED, {"reasoning.omitted-on-plain-turn": "damaged"}, "damaged", Meaning.BREAKS, ("plain turns",)),
        (OMITTED, {"reasoning.omitted-on-tool-turn": "accepted"}, "accepted", Meaning.WORKS, ()),
        (OMITTED, {"reasoning.response-field": "none"}, "no reasoning", Meaning.WORKS, ()),
        (
            IDS,
            {"ids.unique-in-conversation": "true", "ids.format": r"'call_\d{8}'"},
            "unique",
            Meaning.WORKS,
            ("call_…",),
        ),
        (IDS, {"ids.unique-in-conversation": "false"}, "restart", Meaning.BREAKS, ()),
        (IDS, {"ids.unique-in-reply": "false"}, "repeat in a reply", Meaning.BREAKS, ()),
        (IDS, {"ids.duplicate-in-request": REFUSED}, "unique", Meaning.UNKNOWN, ("duplicates: 400 (docs)",)),
        (ORDER, {"results.reversed": "accepted"}, "any order", Meaning.WORKS, ()),
        (ORDER, {"results.reversed": REFUSED}, "400", Meaning.BREAKS, ("call order required",)),
        (ORDER, {"tools.parallel": "false"}, "one call", Meaning.WORKS, ("no parallel calls",)),
        (ORDER, {}, "unknown", Meaning.UNKNOWN, ("keep call order",)),
    ],
)
def test_a_fact_is_a_value_with_its_meaning(
    tmp_path: Path, number: int, claims: dict[str, str], value: str, meaning: Meaning, notes: tuple[str, ...]
) -> None:
    found = answers_of(profile(tmp_path, claims or {"stream.done": "true"}))[number]
    assert (value, meaning, notes) == (found.value, found.meaning, found.notes)


def test_a_model_that_breaks_makes_the_answer_one_to_beware_of(tmp_path: Path) -> None:
    claim = f"{{value: false, source: {SOURCE}, confidence: high}}"
    models = f"models: {{'k-*': {{claims: {{ids.unique-in-conversation: {claim}}}}}}}\n"
    found = answers_of(profile(tmp_path, {"ids.unique-in-conversation": "true"}, models))[IDS]
    assert ("unique", Meaning.BEWARE, ("on k-*: restart",)) == (found.value, found.meaning, found.notes)


def test_an_answer_says_what_it_rests_on(tmp_path: Path) -> None:
    made = profile(tmp_path, {"ids.unique-in-conversation": "true", "results.reversed": "unknown"})
    field, omitted, ids, order = answers_of(made)
    assert [ASSUMED, "", "sources", ""] == [each.evidence for each in (field, omitted, ids, order)]
    assert ("claims/ids.unique-in-conversation", "2026-11-20", 0) == (ids.row, ids.read, ids.count)
    counted = {
        "claim": "ids.unique-in-conversation",
        "model": "",
        "value": True,
        "confirmed": [0, 1],
        "contradicted": [2],
    }
    seen = answers_of(made, calibration={"p": {"claims": [counted]}})[IDS]
    assert ("recorded", 2, True) == (seen.evidence, seen.count, seen.contested)


def adapter(folder: Path, *statuses: tuple[str, Status, Level], cases: int = 1) -> SubjectAnswer:
    """Return the answer about reasoning of an adapter: its first case has these outcomes, the others pass them."""
    failing = tuple([Outcome(rule, status, level, 1) for rule, status, level in statuses])
    passing = tuple([Outcome(rule, Status.PASSED, level, 1) for rule, _, level in statuses])
    played = [
        Case(f"s{number}", "plain", Evidence.SIMULATED, failing if not number else passing) for number in range(cases)
    ]
    inputs = Inputs((Results("sdk@1", "m", tuple(played), "p"),), {"p": profile(folder, {"stream.done": "true"})})
    (found,) = adapter_answers(inputs)
    return found.answers[0]


LOST, CHANGED = "reasoning/present-on-tool-turns", "reasoning/verbatim"


def test_an_adapter_breaks_by_its_worst_rule(tmp_path: Path) -> None:
    found = adapter(tmp_path, (CHANGED, Status.FAILED, Level.SHOULD), (LOST, Status.FAILED, Level.MUST))
    assert ("loses", Meaning.BREAKS, LOST, SENT) == (found.value, found.meaning, found.row, found.evidence)
    assert ("in 1 of 1 cases", "changes") == found.notes


def test_a_rare_failure_and_a_should_are_to_beware_of(tmp_path: Path) -> None:
    assert Meaning.BREAKS is adapter(tmp_path, (LOST, Status.FAILED, Level.MUST), cases=10).meaning
    assert Meaning.BEWARE is adapter(tmp_path, (LOST, Status.FAILED, Level.MUST), cases=11).meaning
    assert Meaning.BEWARE is adapter(tmp_path, (CHANGED, Status.FAILED, Level.SHOULD)).meaning


def test_an_adapter_keeps_only_what_was_checked(tmp_path: Path) -> None:
    assert "keeps" == adapter(tmp_path, (LOST, Status.PASSED, Level.MUST)).value
    untested = adapter(tmp_path, (LOST, Status.UNTESTED, Level.MUST))
    assert ("not tested", Meaning.UNKNOWN) == (untested.value, untested.meaning)


def test_changes_are_those_of_claims_and_models_in_the_last_months(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    entry = "{{value: {}, {}source: {}, confidence: high}}"
    path.write_text(
        "title: P\nkind: host\nbase_url: https://p.example\nkey: P_KEY\nmodel: m\n"
        f"models: {{old: {{lifecycle: {{until: 2026-11-02, source: {SOURCE}}}}}}}\n"
        "claims:\n  stream.done:\n"
        f"    - {entry.format('false', 'until: 2026-11, ', SOURCE)}\n"
        f"    - {entry.format('true', 'since: 2026-11, ', SOURCE)}\n"
        f"  ids.format: {entry.format('unknown', 'since: 2025-01, ', SOURCE)}\n"
    )
    found = changes({"p": profiles.read(path)})
    shown = [(each.day, each.what, each.model, each.before, each.after) for each in found]
    assert [
        ("2026-11-02", "model", "old", "served", "retired"),
        ("2026-11", "stream.done", "", "false", "true"),
    ] == shown


@pytest.mark.parametrize(
    ("day", "shown"),
    [("2026-11-02", "Nov 2"), ("2025-11-02", "Nov 2025"), ("2026-11", "Nov 2026"), ("2025", "2025")],
)
def test_a_day_is_shown_as_its_age(day: str, shown: str) -> None:
    assert shown == age(day, "2026-11-22")


def test_a_readers_own_endpoint_is_never_answered_by_the_claims_alone(tmp_path: Path) -> None:
    made = profile(tmp_path, {"reasoning.response-field": "reasoning_content", "results.reversed": "accepted"})
    inputs = Inputs((Results("p", "m", (), mine=True),), {"p": made})
    (found,) = provider_answers(inputs)
    assert {("unknown", Meaning.UNKNOWN, "", "")} == {
        (each.value, each.meaning, each.evidence, each.read) for each in found.answers
    }
