"""Faults of real servers: over HTTP, a reply with one breaks the rules that the fault names, and no others."""

import re
from collections.abc import Iterator
from functools import cache

import pytest

from conformance import faults, profiles, rules, scenarios
from conformance.cli import main
from conformance.errors import UnknownName
from conformance.faults import ServerFault
from conformance.judge import check
from conformance.profiles import Profile
from conformance.results import Evidence, Status
from conformance.scenarios import Scenario
from conformance.simulator import simulated
from conformance.suite.options import on_wire
from conformance.suite.turns import Subject, converse
from conformance.transport.client import Client, Endpoint
from conformance.wire.exchange import Conversation
from conformance.wire.views import Side
from tests.checking import ROOT
from tests.loops import every
from tests.sampling import some

PROVIDERS = {"chat": "zai", "messages": "anthropic", "responses": "openai", "gemini": "gemini"}
WITHOUT_CLAIM = {"name-repeated": "vllm"}
"""Providers for the faults that those above are known to have: what a profile claims is not news."""

SCENARIOS = ("interleaved-thinking", "two-tool-turns", "parallel-tool-calls", "plain-answer")
ALL = [faults.load(name) for name in faults.names()]
CASES = [
    case
    for fault in ALL
    for case in some(
        [(fault, wire, variant) for wire in fault.wires for variant in fault.variants],
        name=lambda case: f"{case[0].name}-{case[1]}-{case[2]}",
    )
]


@cache
def profile_of(wire: str, fault: str = "") -> Profile:
    return profiles.load_profile(WITHOUT_CLAIM.get(fault, PROVIDERS[wire]))


def played_by(profile: Profile) -> Iterator[Scenario]:
    claims = profile.at(profile.model, "")
    yield from [each for each in map(scenarios.load, SCENARIOS) if each.unmet(claims) is None]


@cache
def broken(wire: str, variant: str, name: str = "") -> frozenset[str]:
    """Return the rules about replies that a provider with a fault breaks, over HTTP."""
    served = profile_of(wire, name)
    profile = on_wire(served, wire)
    chosen = [faults.load(name)] if name else []
    found: set[str] = set()
    base = "v1beta" if wire == "gemini" else "v1"
    with (
        simulated(served, faults=chosen) as url,
        Client(Endpoint(f"{url}/{base}", "key", wire=wire, exclusive=True)) as client,
    ):
        subject = Subject(profile, profile.model, client.send, Evidence.SIMULATED)
        for scenario in played_by(profile):
            found |= failed(tuple(converse(scenario, variant, subject).exchanges), profile)
    return frozenset(found)


def failed(conversation: Conversation, profile: Profile) -> set[str]:
    assert conversation
    return {
        each.rule
        for each in check(conversation, profile)
        if each.status in (Status.FAILED, Status.ERRORED) and rules.by_id()[each.rule].on.side is Side.PROVIDER
    }


@every("variant", faults.BOTH)
@every("wire", PROVIDERS)
def test_without_a_fault_no_rule_is_broken(wire: str, variant: str) -> None:
    assert frozenset() == broken(wire, variant)


@every(("fault", "wire", "variant"), CASES)
def test_a_fault_breaks_what_it_names_and_nothing_else(fault: ServerFault, wire: str, variant: str) -> None:
    seen = broken(wire, variant, fault.name)
    assert set() == {*fault.breaks[wire]} - seen
    assert set() == seen - {*fault.breaks[wire], *fault.related}


@every("fault", ALL, ids=lambda fault: fault.name)
def test_a_fault_names_its_report_and_existing_rules(fault: ServerFault) -> None:
    assert re.fullmatch(r"https://\S+", fault.source)
    assert re.fullmatch(r"[A-Z].*\.", fault.title)
    assert {*fault.wires} == fault.breaks.keys()


@pytest.mark.slow
@every("fault", [fault for fault in ALL if fault.related], ids=lambda fault: fault.name)
def test_each_related_rule_reports_the_fault_somewhere(fault: ServerFault) -> None:
    seen = {rule for wire in fault.wires for variant in fault.variants for rule in broken(wire, variant, fault.name)}
    assert set() == {*fault.related} - seen


def test_every_wire_and_variant_has_faults() -> None:
    assert {*PROVIDERS} == {wire for fault in ALL for wire in fault.wires}
    assert {*faults.BOTH} == {variant for fault in ALL for variant in fault.variants}


def test_an_unknown_fault_is_reported_with_similar_names() -> None:
    with pytest.raises(UnknownName, match="unknown fault 'index-zer'; did you mean index-zero"):
        faults.load("index-zer")


def test_the_command_lists_the_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["serve", "--provider", "deepseek", "--fault", "list"])
    lines = capsys.readouterr().out.splitlines()
    assert list(faults.names()) == [line.split()[0] for line in lines]
    assert "index-zero               All calls of a streamed reply have index 0. (chat)" in lines


def test_the_command_refuses_an_unknown_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["serve", "--provider", "deepseek", "--fault", "index-zer"])
    assert "unknown fault 'index-zer'; did you mean index-zero" in capsys.readouterr().err


def test_the_page_of_the_simulator_lists_every_fault() -> None:
    page = (ROOT / "docs" / "simulator.md").read_text("utf-8")
    assert [] == [fault.name for fault in ALL if f"| `{fault.name}` |" not in page]
