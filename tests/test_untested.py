"""What has no rule: every gap is named, with its source and its reason, and nothing is named that is not a gap."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import conformance
from conformance import profiles, rules
from conformance.documents import read_yaml
from conformance.schemas import validator
from tests.loops import every

ROOT = Path(conformance.__file__).parent
UNTESTED: Mapping[str, Any] = read_yaml(ROOT / "rules" / "untested.yaml").value
LISTED = [name for group in UNTESTED["claims"] for name in group["names"]]
READ = {claim for rule in rules.load() for claim in rule.reads}


@cache
def played() -> set[str]:
    """Return the claims that code beside the rules, or a scenario, names: those that the simulator plays."""
    paths = [path for path in ROOT.rglob("*.py") if "rules" not in path.relative_to(ROOT).parts] + [
        *(ROOT / "scenarios").glob("*.yaml")
    ]
    words = {word for path in paths for word in re.findall(r"[a-z]+(?:\.[a-z_-]+)+", path.read_text("utf-8"))}
    return words & profiles.vocabulary().keys()


def test_it_is_what_its_schema_says() -> None:
    assert () == validator("files/untested").errors(UNTESTED)


@every("entry", UNTESTED["demands"], ids=lambda entry: entry["rule"])
def test_no_demand_is_named_that_has_a_rule(entry: Mapping[str, str]) -> None:
    assert entry["rule"] not in {rule.id for rule in rules.load()}
    assert entry["rule"].partition("/")[0] in {rule.family for rule in rules.load()}


def test_demands_and_claims_are_named_once() -> None:
    assert [] == [name for name, count in Counter(entry["rule"] for entry in UNTESTED["demands"]).items() if count > 1]
    assert [] == [name for name, count in Counter(LISTED).items() if count > 1]


def test_every_claim_is_read_by_a_rule_or_played_or_named_here() -> None:
    assert set() == profiles.vocabulary().keys() - READ - played() - set(LISTED)


def test_no_claim_is_named_here_that_is_none_or_that_a_rule_reads() -> None:
    assert set() == set(LISTED) - profiles.vocabulary().keys()
    assert set() == set(LISTED) & READ


@every("name", profiles.names())
def test_every_claim_about_another_wire_is_read_there_or_played(name: str) -> None:
    for wire, section in profiles.load(name).protocols.items():
        read = {claim for rule in rules.load() if wire in rule.wires for claim in rule.reads}
        named = {*section.claims, *(claim for model in section.models for claim in model.claims)}
        assert set() == named - read - played() - set(LISTED)
