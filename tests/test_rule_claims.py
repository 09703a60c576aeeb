"""The claims that rules declare are exactly those that they ask for."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from conformance import profiles, rules
from conformance.documents.pointer import REMOVE
from conformance.evidence.reads import Reads, changed
from conformance.judge import check
from conformance.profiles import of
from conformance.rules import Context, Example, Fault, Rule
from conformance.wire.reasoning import TAGS
from tests.loops import every
from tests.sampling import some
from tests.test_rules import REFUSED, SHAPES

PART = 12
"""A plain run observes one rule in so many, in their own examples, and CI all rules in those of all."""

ALWAYS = {"thinking.mode": "always"}
BY_SWITCH = {"thinking.mode": "default-on"}
BLOCKS = [{"type": "thinking", "thinking": "I need the weather.", "signature": "c2ln"}]
CARRIED: dict[str, Mapping[str, Any]] = {
    "reasoning": {"reasoning": "It is cold."},
    "reasoning_text": {"reasoning_text": "It is cold."},
    "reasoning_details": {"reasoning_details": [{"type": "reasoning.text", "text": "It is cold."}]},
    "thinking_blocks": {"thinking_blocks": BLOCKS},
    "thinking-parts": {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "It is cold."}]}]},
    "reasoning-parts": {"content": [{"type": "reasoning", "text": "It is cold."}]},
}
CALL = {"id": "call_a", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
SENT = "/1/request/messages/1"


def with_fields(message: Mapping[str, Any], base: str) -> list[Example]:
    """Return a base whose second message has each field that may carry reasoning."""
    return [Example(base, {"/0/request/messages/1": {**message, **each}}) for each in CARRIED.values()]


def malformed(arguments: str) -> Example:
    """Return a reply with other arguments, which come back repaired."""
    edits = {"/0/response/choices/0/message/tool_calls/0/function/arguments": arguments}
    return Example("reasoning-signature-session", edits)


ENCRYPTED = {"type": "reasoning.encrypted", "data": "b3BhcXVl", "id": "rs_1", "format": "unknown", "index": 1}
DETAILS = "/1/request/messages/1/reasoning_details"
MORE: Mapping[str, list[Example]] = {
    "reasoning/details-unchanged": [
        Example("stream-details-session", {f"{DETAILS}/-": ENCRYPTED}),
        Example(
            "details-session",
            {
                "/0/response/choices/0/message/reasoning_details": [],
                "/1/request/messages/2/reasoning_details": REMOVE,
            },
            {"reasoning.details.empty-dropped": "damaged"},
        ),
    ],
    "reasoning/dropped-on-plain-turns": with_fields({"role": "assistant", "content": "Hello."}, "reasoning-plain-turn"),
    "reasoning/under-accepted-field": [
        each._replace(claims={"reasoning.request-field": "reasoning_content"})
        for each in with_fields({"role": "assistant", "content": "", "tool_calls": [CALL]}, "tool-result")
    ]
    + [Example("thinking-session", claims={"reasoning.request-field": "reasoning"})],
    "reasoning/resent-on-tool-turns": [
        Example("stream-thinking-session", {f"{SENT}/reasoning_content": REMOVE}, {"reasoning.request-field": [field]})
        for field in ("reasoning_content", *CARRIED, "extra_content", *TAGS)
    ],
    "reasoning/under-canonical-field": [
        Example("tool-result", {"/0/request/messages/1/extra_content": {"a": 1}}),
        Example("tool-result", {"/0/request/messages/1/reasoning_opaque": "c2ln"}),
    ],
    "reasoning/verbatim": [
        Example(
            "thinking-session",
            {"/3/request/messages/2/reasoning_content": ""},
            {"reasoning.omitted-on-earlier-tool-turn": REFUSED, "reasoning.request-field": "reasoning"},
        )
    ],
    "request/no-local-only-fields": [
        Example("tool-result", {"/0/request/messages/1/tool_calls/0/isError": True}),
        Example("plain", {"/0/request/messages/1/content": [{"type": "text", "text": "Hi", "timestamp": 1}]}),
    ],
    "shape/choice": [Example("plain", {"/0/response/choices/0/index": REMOVE})],
    "shape/response": [Example("plain", {"/0/response/object": REMOVE})],
    "shape/tool-definition": [Example("tool-call", {"/0/request/tools/0/function/name": REMOVE})],
    "tool-calls/id-in-claimed-format": [Example("stream-tool-calls", claims={"ids.format": "call_[a-z]"})],
    "transcript/reply-resent-unchanged": [malformed("{"), malformed("")],
}


def recorded(rule: Rule, reads: Reads) -> Rule:
    """Return a rule whose reads of claims are recorded, and the claims that its faults name."""

    def judge(element: Any, context: Context) -> list[Fault]:
        context._thinks = ...  # kept from the rule before
        reads.current = rule.id, 0
        try:
            faults = list(rule.judge(element, context) or ())
            for fault in faults:
                if fault.claim is not None:
                    reads.add_claim(fault.claim)
        finally:
            reads.current = None
        return faults

    def where(element: Any, context: Context) -> bool:
        context._thinks = ...
        reads.current = rule.id, 0
        try:
            return (rule.when is None or rule.when(context)) and rule.concerns(element, context)
        finally:
            reads.current = None

    def known_by(context: Any) -> str:
        reads.current = rule.id, 0
        try:
            return rule.known_by(context) if rule.known_by is not None else ""
        finally:
            reads.current = None

    return replace(rule, judge=judge, among=None, where=where, when=None, known_by=known_by)


def by_claims(of_rules: Sequence[Rule]) -> Mapping[str, list[Example]]:
    """Return conversations by the claims that they are judged by: examples of some rules, wrong shapes, those above."""
    examples = [example for rule in of_rules for example in (*rule.bad, *rule.good)]
    examples += [Example("tool-result", edits, {claim: REFUSED}) for claim, edits, _ in SHAPES]
    examples += [example for each in MORE.values() for example in each]
    found: dict[str, list[Example]] = {}
    for example in examples:
        for more in ({}, ALWAYS, BY_SWITCH):
            found.setdefault(json.dumps({**example.claims, **more}, sort_keys=True), []).append(example)
    return found


def observed(chosen: Sequence[Rule]) -> Reads:
    """Return the claims that each of these rules is seen to ask for."""
    reads = Reads()
    watched = tuple([recorded(rule, reads) for rule in chosen])
    for claims, examples in by_claims(chosen).items():
        # One profile for all of them, because the plan of a judgement belongs to the claims of a profile.
        watcher = changed(of(json.loads(claims)), reads.observed)
        for example in examples:
            check(example.conversation(), watcher, watched)
    return reads


@pytest.mark.parametrize(
    "chosen", some([list(rules.load()[::PART]), list(rules.load())], name=lambda chosen: f"{len(chosen)} rules")
)
def test_a_rule_declares_each_claim_that_it_asks_for_and_no_other(chosen: Sequence[Rule]) -> None:
    reads = observed(chosen)
    expected = {rule.id: set(rule.reads) - set(rule.claims) for rule in chosen}
    assert expected == {rule.id: reads.claims(rule.id, 0) - set(rule.claims) for rule in chosen}


@every("rule", rules.load(), ids=lambda rule: rule.id)
def test_a_rule_declares_known_claims_and_each_once(rule: Rule) -> None:
    assert set() == set(rule.reads) - profiles.vocabulary().keys()
    assert len(set(rule.reads)) == len(rule.reads)
    assert set(rule.claims) == set(rule.reads[: len(set(rule.claims))])
