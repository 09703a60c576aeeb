"""Conversations with one fault each, and the rule that has to find it: tests for validators."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

from conformance.rules import Example, example, select
from conformance.wire.exchange import Conversation


class FaultyConversation(NamedTuple):
    """The id of a rule, a conversation that breaks it, and the same conversation without the fault.

    `claims` are those of the provider: some rules check nothing without them. If `conversation` equals `sound`, it
    breaks a claim.
    """

    rule: str
    conversation: Conversation
    sound: Conversation
    claims: Mapping[str, Any]


def faults(rules: str | Sequence[str] = "*") -> st.SearchStrategy[FaultyConversation]:
    """Return a strategy for valid conversations to which one fault was added.

    `rules` are globs of the rules to break: `transcript/*`, `stream/complete`. The faults are the bad examples of the
    rules, so each breaks its rule and no other. Raises UnknownName if a glob matches no rule.
    """
    chosen = select([rules] if isinstance(rules, str) else rules)
    return st.sampled_from([(rule.id, bad) for rule in chosen for bad in rule.bad]).map(lambda drawn: _faulty(*drawn))


def _faulty(rule: str, bad: Example) -> FaultyConversation:
    return FaultyConversation(rule, bad.conversation(), example(bad.base).conversation(), bad.claims)
