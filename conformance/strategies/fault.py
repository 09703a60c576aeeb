"""Conversations with one fault each, and the rule that has to find it: what a validator is to be held to."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

from conformance.rules import Example, example, select
from conformance.wire.exchange import Conversation


class Planted(NamedTuple):
    """A fault: the id of the rule that is broken, the conversation that breaks it, the same as it was before.

    `claims` are what the provider is taken to claim: some rules go by them, and judge nothing without. Where
    `conversation` equals `sound`, it is the claim that it breaks.
    """

    rule: str
    conversation: Conversation
    sound: Conversation
    claims: Mapping[str, Any]


def faults(rules: str | Sequence[str] = "*") -> st.SearchStrategy[Planted]:
    """Return a strategy of valid conversations into which one fault was planted.

    `rules` are globs of the rules that are broken: `transcript/*`, `stream/complete`. The faults are the examples that
    each rule brings, so that every one breaks its rule and no other. Raises UnknownName where a glob fits no rule.
    """
    chosen = select([rules] if isinstance(rules, str) else rules)
    return st.sampled_from([(rule.id, bad) for rule in chosen for bad in rule.bad]).map(lambda drawn: _planted(*drawn))


def _planted(rule: str, bad: Example) -> Planted:
    return Planted(rule, bad.conversation(), example(bad.base).conversation(), bad.claims)
