"""The examples of facts about gateways: which fact each bad one breaks, where and in which words.

`tests/golden/gateway-facts.txt` has a block for each bad example: its findings with level, place, message and place
after the gateway.
"""

from collections.abc import Callable, Iterator

import pytest

from conformance import fidelity, profiles
from conformance.cli import main
from conformance.fidelity import FidelityFact
from conformance.fidelity.examples import GatewayExample, example
from conformance.gateways import runs
from conformance.resources import folder
from conformance.results import Status
from tests.loops import every

BAD = [(fact, each) for fact in fidelity.load() for each in fact.bad]
GOOD = [(fact, each) for fact in fidelity.load() for each in fact.good]


def named(each: FidelityFact | GatewayExample) -> str:
    return each.id if isinstance(each, FidelityFact) else each.base


def failed(given: GatewayExample) -> list[str]:
    return [each.rule for each in fidelity.judge(given.session()) if each.status is Status.FAILED]


@every(("fact", "given"), BAD, ids=named)
def test_a_bad_example_breaks_its_fact_and_no_other(fact: FidelityFact, given: GatewayExample) -> None:
    assert failed(given) == [fact.id]


@every(("fact", "given"), GOOD, ids=named)
def test_a_good_example_is_looked_at_and_breaks_nothing(fact: FidelityFact, given: GatewayExample) -> None:
    assert failed(given) == []
    assert {each.rule: each.status for each in fidelity.judge(given.session())}[fact.id] is Status.PASSED


def test_each_fact_has_both() -> None:
    assert [each.id for each in fidelity.load() if not (each.bad and each.good)] == []


def test_no_base_loses_anything() -> None:
    bases = sorted([path.stem for path in (folder("fixtures") / "gateways").glob("*.json")])
    assert len(bases) == 8
    assert {base: failed(example(base)) for base in bases} == {base: [] for base in bases}


def _blocks() -> Iterator[str]:
    for fact in fidelity.load():
        for number, given in enumerate(fact.bad, 1):
            yield f"{fact.id} {number}: {given.base}"
            for outcome in fidelity.judge(given.session()):
                for finding in outcome.findings:
                    yield f"  {finding.level.value} {finding.at}: {finding.message}"
            yield ""


def test_each_bad_example_is_reported_at_its_place_and_in_its_words(golden: Callable[[str, str], None]) -> None:
    golden("gateway-facts.txt", "\n".join(_blocks()))


def test_explain_shows_the_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "gateway/tools-kept"]) == 0
    out = capsys.readouterr().out
    assert "Violates the fact: fixtures/gateways/settings.json with\n  - /0/backs/0/request/tools/1: {" in out
    assert "Follows the fact: fixtures/gateways/settings.json with\n  + /0/backs/0/request/tools/-: {" in out


def test_the_client_before_a_gateway_plays_no_scenario_that_leaves_something_to_a_server() -> None:
    profile = profiles.load("openai").on("responses")
    names = {each.name for each in runs.cases("responses", profile, profile.model)}
    assert {"agent-session"} == names & {"agent-session", "items-stored", "items-not-stored", "response-continued"}
