"""The score: for every mutant, whether its own rule found it, and which rules gave false positives."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from conformance.rules import Rule
from tests.mutation.definition import SURVIVED, Mutation
from tests.mutation.mutants import Fate, Mutant

_FATES: Final = (Fate.ITSELF, Fate.RELATED, Fate.OTHERS, Fate.SURVIVED)


def score(rules: Sequence[Rule], mutations: Sequence[Mutation], mutants: Sequence[Mutant]) -> dict[str, Any]:
    """Return the score as the JSON object of `reports/mutation.json`: no times, a stable order.

    A mutant that several rules are expected to find counts for those that do, and for all of them if none does.
    """
    by_name: dict[str, list[Mutant]] = {}
    by_rule: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_name.setdefault(mutant.by, []).append(mutant)
        for name in mutant.expects:
            by_rule.setdefault(name, []).append(mutant)
    accused = Counter([name for mutant in mutants for name in {*mutant.false_positives}])
    return {
        "total": _total(mutants),
        "rules": [_of_rule(rule, mutations, by_rule.get(rule.id, ()), accused[rule.id]) for rule in rules],
        "mutations": [_of_mutation(mutation, by_name.get(mutation.name, ())) for mutation in mutations],
        "unexplained": _unexplained(mutants),
        "explained": _explained(mutations, mutants),
    }


def _total(mutants: Iterable[Mutant]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for mutant in mutants:
        counts["mutants" if mutant.expects else "harmless"] += 1
        counts[mutant.fate.value] += 1
        counts["with_false_positives"] += bool(mutant.false_positives)
        counts["unexplained"] += bool(mutant.unexplained)
    keys = ("mutants", *(fate.value for fate in _FATES), "harmless", "with_false_positives", "unexplained")
    return {key: counts[key] for key in keys}


def _of_rule(
    rule: Rule, mutations: Sequence[Mutation], expecting: Sequence[Mutant], false_positives: int
) -> dict[str, Any]:
    """Return the row of a rule, given the mutants that it is expected to find and how many it finds wrongly."""
    own = [mutant for mutant in expecting if rule.id in mutant.found or mutant.fate is not Fate.ITSELF]
    fates = Counter(mutant.fate for mutant in own)
    return {
        "rule": rule.id,
        "examples": len(rule.bad),
        "mutations": sum(rule.id in mutation.expects for mutation in mutations),
        "mutants": len(own),
        **{fate.value: fates[fate] for fate in _FATES},
        "false_positives": false_positives,
    }


def _of_mutation(mutation: Mutation, own: Sequence[Mutant]) -> dict[str, Any]:
    fates = Counter(mutant.fate for mutant in own)
    return {
        "mutation": mutation.name,
        "title": mutation.title,
        "expects": list(mutation.expects),
        "related": list(mutation.related),
        "mutants": len(own),
        **{fate.value: fates[fate] for fate in (*_FATES, *((Fate.TOLERATED,) if mutation.harmless else ()))},
        "false_positives": sorted({name for mutant in own for name in mutant.false_positives}),
        **({"allows": {allowed.what: allowed.why for allowed in mutation.allows}} if mutation.allows else {}),
    }


def _unexplained(mutants: Iterable[Mutant]) -> list[dict[str, Any]]:
    groups = _grouped((mutant, mutant.unexplained) for mutant in mutants)
    return [_summary(what, group) for (_, what), group in groups]


def _explained(mutations: Iterable[Mutation], mutants: Iterable[Mutant]) -> list[dict[str, Any]]:
    why = {(mutation.name, allowed.what): allowed.why for mutation in mutations for allowed in mutation.allows}
    groups = _grouped((mutant, mutant.explained) for mutant in mutants)
    return [{**_summary(what, group), "why": why[by, what]} for (by, what), group in groups]


def _grouped(
    wrong: Iterable[tuple[Mutant, Iterable[str]]],
) -> list[tuple[tuple[str, str], list[Mutant]]]:
    """Return the mutants by their origin and what is wrong with them."""
    groups: dict[tuple[str, str], list[Mutant]] = {}
    for mutant, names in wrong:
        for name in names:
            groups.setdefault((mutant.by, name), []).append(mutant)
    return sorted(groups.items(), key=lambda item: item[0])


def _summary(what: str, group: Sequence[Mutant]) -> dict[str, Any]:
    """Return what is wrong with some mutants: how often, and the first place."""
    first = group[0]
    return {
        "from": first.by,
        "expects": list(first.expects),
        "wrong": SURVIVED if what == SURVIVED else f"false positive of {what}",
        "times": len(group),
        "base": first.base,
        "change": first.change,
    }
