"""Whole conversations with their requests corrected, each as the same client without its faults would send it.

What is changed in a message of one request is changed wherever later requests repeat that message.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from conformance.documents.patch import apply
from conformance.fixes import Fix, fix
from conformance.fixes.trial import EARLIER, carried
from conformance.judge import judge
from conformance.profiles import Profile
from conformance.results import Finding
from conformance.rules import Rule
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.views import Side

MAX_STEPS: Final = 100
"""How many findings of one request are fixed one after the other."""


def corrected(
    conversation: Conversation, profile: Profile | None, rules: tuple[Rule, ...], as_of: str = ""
) -> Conversation:
    """Return the exchanges with all that can be fixed in their requests; an exchange without a fix stays the same."""
    fixed: list[Exchange] = []
    for number, exchange in enumerate(conversation):
        # The messages of an earlier request come back here, changed as they were there.
        current = carried(exchange, conversation[number - 1].request, fixed[-1].request) if number else exchange
        fixed.append(_without_findings((*fixed, current), profile, rules, as_of))
    return tuple(fixed)


def _without_findings(
    conversation: Conversation, profile: Profile | None, rules: tuple[Rule, ...], as_of: str
) -> Exchange:
    """Return the last exchange of a conversation, with its request fixed step by step."""
    history, current = conversation[:-1][-EARLIER:], conversation[-1]
    hopeless: set[tuple[str, str, str]] = set()
    for _ in range(MAX_STEPS):
        window = (*history, current)
        step: Fix | None = None
        for rule, finding in _findings(window, profile, rules, as_of):
            key = rule, finding.at, finding.message
            if key in hopeless:
                continue
            step = fix(window, rule, finding, profile, as_of)
            if step is not None and step.patch:
                break
            hopeless.add(key)
        if step is None or not step.patch:
            return current
        current = replace(current, request=apply(current.request, step.patch))
    return current


def _findings(
    conversation: Conversation, profile: Profile | None, rules: tuple[Rule, ...], as_of: str
) -> Iterator[tuple[str, Finding]]:
    """Yield what the rules find in the last request, each with its rule."""
    last = f"/{len(conversation) - 1}/request"
    for outcome in judge(conversation, profile, rules, as_of).found():
        for finding in outcome.findings:
            if finding.side == Side.CLIENT.value and finding.at.startswith(last):
                yield outcome.rule, finding
