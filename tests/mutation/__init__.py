"""Proof that the suite can fail: faults are put into good conversations, and a score shows which rule finds each.

The faults are the bad examples of all rules, and a catalogue of mutations that was written without looking at the
rules. The catalogue also holds harmless changes, on which no rule may fail.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from conformance.rules import Rule, load
from conformance.wire.native import CHAT
from conformance.wires import NATIVE
from tests.mutation import catalogue
from tests.mutation.definition import Mutation
from tests.mutation.mutants import Mutant, all_bases, of_mutation, of_rule
from tests.mutation.score import score

__all__ = ["run"]


def run(rules: Sequence[Rule], apply: Callable[[Mutation], Iterable[Mutant]] = of_mutation) -> dict[str, Any]:
    """Apply every mutation that one of these rules has to find, check the results by all rules, and return the score.

    Harmless changes are made if all rules are given. `apply` returns the mutants of a mutation.
    """
    wanted = {rule.id for rule in rules}
    is_complete = len(wanted) == len(load())
    mutations = [
        mutation
        for mutation in catalogue.load()
        if wanted.intersection(mutation.expects) or (is_complete and mutation.harmless)
    ]
    mutants = [mutant for rule in rules for mutant in of_rule(rule)]
    mutants += [mutant for mutation in mutations for mutant in apply(mutation)]
    found = [all_bases(wire) for wire in (CHAT, *NATIVE)]
    bases = {"sessions": sum(len(each) for each, _ in found), "exchanges": sum(len(each) for _, each in found)}
    return {"bases": bases, **score(rules, mutations, mutants)}
