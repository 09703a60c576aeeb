"""Proof that the suite can fail: faults are planted into good conversations, and it is told which rule found each.

The faults are the bad examples of all rules, and a catalogue of vices that were thought of apart from the rules. The
catalogue also holds changes that are harmless, of which no rule may speak.
"""

from collections.abc import Sequence
from typing import Any

from conformance.mutation import catalogue
from conformance.mutation.planting import every, of_rule, of_vice
from conformance.mutation.score import score
from conformance.rules import Rule, load

__all__ = ["run"]


def run(rules: Sequence[Rule]) -> dict[str, Any]:
    """Plant every fault that one of these rules has to find, judge it by all rules, and return the score.

    Harmless changes are made where all rules are meant.
    """
    wanted = {rule.id for rule in rules}
    everything = len(wanted) == len(load())
    vices = [vice for vice in catalogue.load() if wanted.intersection(vice.expects) or (everything and vice.harmless)]
    mutants = [mutant for rule in rules for mutant in of_rule(rule)]
    mutants += [mutant for vice in vices for mutant in of_vice(vice)]
    sessions, exchanges = every()
    hosts = {"sessions": len(sessions), "exchanges": len(exchanges)}
    return {"hosts": hosts, **score(rules, vices, mutants)}
