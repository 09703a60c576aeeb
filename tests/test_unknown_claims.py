"""A claim that is unknown: no MUST comes from it, and no refusal that the simulator invents.

Each claim that a rule declares is set to unknown in each of its bad examples, one by one and all of them together. What
stays a MUST does so for another reason: another claim is known, or content is lost whatever the provider answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pytest

from conformance import profiles, rules, wires
from conformance.judge import check
from conformance.profiles import UNKNOWN, of
from conformance.results import Finding, Level
from conformance.rules import Example, Rule
from conformance.wire.exchange import Exchange
from conformance.wire.views import Side
from tests.sampling import some
from tests.test_agreement import asked, disagreement
from tests.test_rules import REFUSED, SHAPES

LOST: Final = {
    "gemini/text-signature-unchanged", "reasoning/details-unchanged", "reasoning/resent-on-tool-turns",
    "reasoning/signatures-resent", "reasoning/verbatim", "responses/blob-of-the-done-item",
}  # fmt: skip
"""Rules about reasoning that is lost or changed, which an answer of 200 does not make harmless, nor an unknown one."""


def client_rules() -> list[Rule]:
    return [rule for rule in rules.load() if rule.on.side is Side.CLIENT and rule.reads]


def found_must(rule: Rule, example: Example, claims: Mapping[str, Any]) -> list[Finding]:
    """Return the findings of a rule at MUST."""
    outcomes = check(example.conversation(), of(claims), [rule])
    return [each for outcome in outcomes for each in outcome.findings if each.level is Level.MUST]


def with_unknown(rule: Rule) -> Iterator[tuple[Example, dict[str, Any]]]:
    """Yield the bad examples with claims of which the decisive ones, or all that the rule reads, are unknown."""
    for example in rule.bad:
        if rule.claims:
            yield example, {**example.claims, **dict.fromkeys(rule.claims, UNKNOWN)}
        yield example, {**example.claims, **dict.fromkeys(rule.reads, UNKNOWN)}


def decided_by_claims(rule: Rule, example: Example, claims: Mapping[str, Any]) -> bool:
    """Return whether the claims that a rule declares decide about an example: refusing each makes another answer.

    A refusal that is there with `claims` too, of which these are unknown, comes from another claim, which is known.
    """
    refused = dict.fromkeys(rule.claims or rule.reads, REFUSED)
    others = found_must(rule, example, claims)
    found = found_must(rule, example, {**example.claims, **refused})
    return any(each.refusal is not None and each not in others for each in found)


def sent_alone(example: Example) -> Exchange:
    return wires.translate(example.conversation())[-1]


@pytest.mark.parametrize("chosen", some([client_rules()[::6], client_rules()], name=lambda chosen: str(len(chosen))))
def test_no_must_comes_from_a_claim_that_is_unknown(chosen: Sequence[Rule]) -> None:
    wrong = [
        f"{rule.id} {number}: {found[0].message}"
        for rule in chosen
        if rule.id not in LOST
        for number, (example, claims) in enumerate(with_unknown(rule))
        if (found := found_must(rule, example, claims)) and decided_by_claims(rule, example, claims)
    ]
    assert [] == wrong


@pytest.mark.parametrize("chosen", some([client_rules()[::6], client_rules()], name=lambda chosen: str(len(chosen))))
def test_no_refusal_comes_from_a_claim_that_is_unknown(chosen: Sequence[Rule]) -> None:
    wrong = []
    for rule in chosen:
        for example, claims in with_unknown(rule):
            sent = sent_alone(example)
            alone = [each for outcome in check(sent, of(claims), [rule]) for each in outcome.findings]
            if isinstance(sent.request, dict) and alone and decided_by_claims(rule, example, claims):
                others = check(sent, of(claims))
                musts = [each for outcome in others for each in outcome.findings if each.level is Level.MUST]
                if not musts and disagreement(of(claims), sent):
                    wrong.append(rule.id)
    assert [] == wrong


def test_what_is_lost_is_a_must_whatever_is_known_of_the_answer() -> None:
    for name in sorted(LOST):
        rule = rules.by_id()[name]
        for value in ("accepted", UNKNOWN):
            claims = {each: value for each in rule.reads if not each.startswith(("thinking.", "reasoning.request"))}
            assert any([found_must(rule, example, claims) for example in rule.bad]), (name, value)


def test_a_wrong_shape_is_no_must_if_the_claim_about_it_is_unknown() -> None:
    for claim, edits, _ in SHAPES:
        example = Example("tool-result", edits, {claim: UNKNOWN})
        outcomes = check(example.conversation(), of(example.claims))
        shapes = [outcome for outcome in outcomes if outcome.rule.startswith("shape/")]
        found = [each for outcome in shapes for each in outcome.findings if each.side == Side.CLIENT.value]
        assert {Level.SHOULD} >= {each.level for each in found}, claim
        assert "" == disagreement(of(example.claims), sent_alone(example)), claim


def test_openai_is_not_said_to_refuse_results_in_another_order() -> None:
    (example,) = rules.by_id()["transcript/results-in-call-order"].bad
    profile = profiles.load("openai")
    outcomes = check(example.conversation(), profile)
    levels = {outcome.rule: outcome.level for outcome in outcomes if outcome.findings}
    assert {"transcript/results-in-call-order": Level.SHOULD} == levels
    assert 200 == asked(profile, sent_alone(example)).status


def test_a_claim_whose_refusal_is_unknown_is_as_unknown_as_a_verdict() -> None:
    (example, *_) = [each for each in rules.by_id()["request/tool-call-id-pattern"].bad if each.claims]
    ((name, claim),) = [each for each in example.claims.items() if each[0] == "ids.input-pattern"]
    rule = rules.by_id()["request/tool-call-id-pattern"]
    assert found_must(rule, example, {name: claim})
    assert [] == found_must(rule, example, {name: {**claim, "refusal": UNKNOWN}})
