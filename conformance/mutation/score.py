"""The score: of every planted fault, whether its own rule found it, and which rules accuse falsely."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from conformance.mutation.definition import SURVIVED, Vice
from conformance.mutation.planting import Fate, Mutant
from conformance.rules import Rule

_FATES: Final = ("itself", "kin", "others", "survived")


def score(rules: Sequence[Rule], vices: Sequence[Vice], mutants: Sequence[Mutant]) -> dict[str, Any]:
    """Return the score as the JSON object of `reports/mutation.json`: no times, a stable order.

    A mutant that several rules are expected to find counts for those that do, and where none does for all of them.
    """
    return {
        "total": _total(mutants),
        "rules": [_of_rule(rule, vices, mutants) for rule in rules],
        "vices": [_of_vice(vice, mutants) for vice in vices],
        "holes": _holes(mutants),
        "excused": _excused(vices, mutants),
    }


def _total(mutants: Iterable[Mutant]) -> dict[str, int]:
    fates: Counter[str] = Counter()
    for mutant in mutants:
        fates["mutants" if mutant.expects else "harmless"] += 1
        fates[mutant.fate.value] += 1
        fates["accusing"] += bool(mutant.strangers)
        fates["unexplained"] += bool(mutant.holes)
    return {key: fates[key] for key in ("mutants", *_FATES, "harmless", "accusing", "unexplained")}


def _of_rule(rule: Rule, vices: Sequence[Vice], mutants: Sequence[Mutant]) -> dict[str, Any]:
    """Return the row of a rule; `accuses` counts the mutants that it breaks on though it has no business with them."""
    own = [
        mutant
        for mutant in mutants
        if rule.id in mutant.expects and (rule.id in mutant.found or mutant.fate is not Fate.ITSELF)
    ]
    fates = Counter(mutant.fate for mutant in own)
    return {
        "rule": rule.id,
        "examples": len(rule.bad),
        "vices": sum(rule.id in vice.expects for vice in vices),
        "mutants": len(own),
        **{fate: fates[Fate(fate)] for fate in _FATES},
        "accuses": sum(rule.id in mutant.strangers for mutant in mutants),
    }


def _of_vice(vice: Vice, mutants: Sequence[Mutant]) -> dict[str, Any]:
    own = [mutant for mutant in mutants if mutant.by == vice.name]
    fates = Counter(mutant.fate for mutant in own)
    return {
        "vice": vice.name,
        "title": vice.title,
        "expects": list(vice.expects),
        "kin": list(vice.kin),
        "mutants": len(own),
        **{fate: fates[Fate(fate)] for fate in (*_FATES, *(("borne",) if vice.harmless else ()))},
        "accused": sorted({each for mutant in own for each in mutant.strangers}),
        **({"allows": {each.what: each.why for each in vice.allows}} if vice.allows else {}),
    }


def _holes(mutants: Iterable[Mutant]) -> list[dict[str, Any]]:
    return [_told(what, group) for (_, what), group in _grouped((mutant, mutant.holes) for mutant in mutants)]


def _excused(vices: Iterable[Vice], mutants: Iterable[Mutant]) -> list[dict[str, Any]]:
    why = {(vice.name, each.what): each.why for vice in vices for each in vice.allows}
    groups = _grouped((mutant, mutant.excused) for mutant in mutants)
    return [{**_told(what, group), "why": why[by, what]} for (by, what), group in groups]


def _grouped(
    wrong: Iterable[tuple[Mutant, Iterable[str]]],
) -> list[tuple[tuple[str, str], list[Mutant]]]:
    """Return the mutants by who planted them and what is wrong with what was found."""
    groups: dict[tuple[str, str], list[Mutant]] = {}
    for mutant, each in wrong:
        for what in each:
            groups.setdefault((mutant.by, what), []).append(mutant)
    return sorted(groups.items(), key=lambda item: item[0])


def _told(what: str, group: Sequence[Mutant]) -> dict[str, Any]:
    """Return what is wrong with some mutants: how often, and the first place."""
    first = group[0]
    return {
        "planted": first.by,
        "expects": list(first.expects),
        "wrong": SURVIVED if what == SURVIVED else f"accused by {what}",
        "times": len(group),
        "host": first.host,
        "change": first.change,
    }
