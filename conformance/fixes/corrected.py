"""Whole conversations with their requests corrected, each as the same client without its faults would send it.

What is changed in a message of one request is changed wherever later requests repeat that message.
"""

from collections.abc import Iterator
from typing import Final

from conformance.documents.patch import apply
from conformance.fixes import Fix, fix
from conformance.fixes.problem import with_request
from conformance.fixes.trial import EARLIER, carried
from conformance.judge import judge
from conformance.profiles import Profile
from conformance.results import Finding
from conformance.rules import Rule
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.views import Side

MAX_JUDGED: Final = 2000
"""How many forms of requests are judged for one session; after that, only what was fixed before is carried on."""

MAX_STEPS: Final = 100
"""How many findings of one request are fixed one after the other."""


class _Effort:
    """What a session took so far: forms that were judged, and findings that no fix was found for.

    What could not be fixed in one request is not tried again where later ones repeat it.
    """

    def __init__(self) -> None:
        self.judged = 0
        self.hopeless: set[tuple[str, str, str]] = set()


def corrected(
    conversation: Conversation, profile: Profile | None, rules: tuple[Rule, ...], as_of: str = ""
) -> Conversation:
    """Return the exchanges with all that can be fixed in their requests; an exchange without a fix stays the same."""
    fixed: list[Exchange] = []
    effort = _Effort()
    for number, exchange in enumerate(conversation):
        # The messages of an earlier request come back here, changed as they were there.
        current = carried(exchange, conversation[number - 1].request, fixed[-1].request) if number else exchange
        fixed.append(_without_findings((*fixed, current), profile, rules, as_of, effort))
    return tuple(fixed)


def _without_findings(
    conversation: Conversation,
    profile: Profile | None,
    rules: tuple[Rule, ...],
    as_of: str,
    effort: "_Effort",
) -> Exchange:
    """Return the last exchange of a conversation, with its request fixed step by step."""
    history, current = conversation[:-1][-EARLIER:], conversation[-1]
    for _ in range(MAX_STEPS):
        window = (*history, current)
        step: Fix | None = None
        for rule, finding in _findings(window, profile, rules, as_of):
            key = rule, finding.at.partition("/request")[2], finding.message
            if key in effort.hopeless or effort.judged >= MAX_JUDGED:
                continue
            step = fix(window, rule, finding, profile, as_of)
            effort.judged += 0 if step is None else step.trials
            if step is not None and step.patch:
                break
            effort.hopeless.add(key)
        if step is None or not step.patch:
            return current
        current = with_request(current, apply(current.request, step.patch))
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
