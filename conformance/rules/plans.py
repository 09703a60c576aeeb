"""A rule set, arranged for some claims: which rules look where, without those that the claims rule out."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.results import Outcome
from conformance.rules import BESIDE, HISTORY, UNCLAIMED, Judge, Rule, Settled, Until, Where
from conformance.rules.context import Claimed, Known
from conformance.wire.views import View, requests

MAX_PLANS: Final = 1024
"""How many plans are kept: a corpus of many hosts has some hundreds of sets of claims."""

Step: TypeAlias = tuple[int, Where | None, Judge]
"""A rule as it runs: its position, which elements it concerns, and how it judges one."""

Steps: TypeAlias = tuple[tuple[Where | None, tuple[Step, ...]], ...]
"""The rules of one view, by the condition that they share, which is asked once for all of them."""


class RuleGroup(NamedTuple):
    """The rules of one view that the claims leave, and the positions of those that need a claim that is not known.

    `steps`: all rules. `beside`: those that read no message. `late`: those that read the history. `each`: the others,
    whose findings hold for messages that are sent again.
    """

    steps: Steps
    beside: Steps
    late: Steps
    each: Steps
    unclaimed: frozenset[int]


class RulePlan(NamedTuple):
    """A rule set, arranged for some claims: rules that they rule out are gone before the first element.

    `ids`: those of the rules. `idle`: the outcome of each if it judges nothing. `tables`: the outcomes of each if it
    finds nothing wrong, by its count. `views`: those of the rules, in the same order for all plans of a rule set.
    `groups`: the rules of each. `active`: the positions of the views whose groups hold any rule; `beside`: of those
    with rules that read no message; `late`: of those with rules that read the history; `each`: of those with others.
    `by_schema`: the rules that only report what the schemas find, by their views and wires. `settled`: what tells
    whether a rule's finding holds, and `until` until which ids come again. `known`: what has been found to follow from
    these claims.
    """

    ids: tuple[str, ...]
    idle: tuple[Outcome, ...]
    tables: tuple[Mapping[int, Outcome], ...]
    views: tuple[View, ...]
    groups: tuple[RuleGroup, ...]
    active: tuple[int, ...]
    beside: tuple[int, ...]
    late: tuple[int, ...]
    each: tuple[int, ...]
    by_schema: tuple[tuple[View, tuple[str, ...], tuple[Step, ...]], ...]
    settled: Mapping[int, Settled]
    until: Mapping[int, Until]
    known: Known


class _RuleSet(NamedTuple):
    """What holds of a rule set on a wire whatever the claims are.

    `by_view`: the rules of each view. `idle_unclaimed`: the outcomes if there are no claims.
    """

    ids: tuple[str, ...]
    idle: tuple[Outcome, ...]
    idle_unclaimed: tuple[Outcome, ...]
    tables: tuple[Mapping[int, Outcome], ...]
    views: tuple[View, ...]
    by_view: tuple["_ViewRules", ...]
    by_schema: tuple[tuple[View, tuple[str, ...], tuple[Step, ...]], ...]
    settled: Mapping[int, Settled]
    until: Mapping[int, Until]


class _ViewRules:
    """The rules of one view on a wire, with their positions, and the groups that claims have left of them.

    `fixed`: all of them, if none asks for a claim.
    """

    __slots__ = ("_groups", "fixed", "rules")

    def __init__(self, rules: Sequence[tuple[int, Rule]]) -> None:
        self.rules = rules
        self._groups: dict[tuple[int, ...], RuleGroup] = {}
        asks = any([rule.needs or rule.when is not None for _, rule in rules])
        self.fixed = None if asks else _group(rules)

    def left(self, claimed: Claimed, *, has_claims: bool) -> RuleGroup:
        """Return the rules that claims leave; most sets of claims leave the same ones."""
        if self.fixed is not None:
            return self.fixed
        found: list[tuple[int, Rule]] = []
        unclaimed: list[int] = []
        for each in self.rules:
            position, rule = each
            if rule.needs and not claimed.knows(*rule.needs):
                unclaimed.append(position)
            elif rule.when is None or rule.when(claimed):
                found.append(each)
        key = tuple([position for position, _ in found])
        if key not in self._groups:
            if len(self._groups) >= MAX_PLANS:
                self._groups.clear()
            self._groups[key] = _group(found)
        group = self._groups[key]
        return group._replace(unclaimed=frozenset(unclaimed)) if has_claims and unclaimed else group


class Chosen:
    """What a plan is made for; two are equal if they are about the same objects, which is quick to tell."""

    __slots__ = ("claimed", "claims", "rules", "wire")

    def __init__(self, rules: Sequence[Rule], claims: Mapping[str, Any], wire: str, *, claimed: bool) -> None:
        self.rules, self.claims, self.wire, self.claimed = rules, claims, wire, claimed

    def __hash__(self) -> int:
        # The cache holds claims and rules with the plan, so no other object can get their id meanwhile.
        return hash((id(self.claims), id(self.rules), self.wire, self.claimed))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chosen):
            return NotImplemented
        is_same = self.claims is other.claims and self.rules is other.rules
        return is_same and self.wire == other.wire and self.claimed is other.claimed


class _Rules:
    """A rule set as a key, equal if it is the same object; the cache holds it, so that no other gets its id."""

    __slots__ = ("rules",)

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules

    def __hash__(self) -> int:
        return id(self.rules)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rules) and self.rules is other.rules


@lru_cache(maxsize=MAX_PLANS)
def plan_of(chosen: Chosen) -> RulePlan:
    """Return the plan for a rule set, claims and a wire."""
    claimed, of_set = Claimed(chosen.claims), _rule_set(_Rules(chosen.rules), chosen.wire)
    groups = [each.left(claimed, has_claims=chosen.claimed) for each in of_set.by_view]
    return RulePlan(
        ids=of_set.ids,
        idle=of_set.idle if chosen.claimed else of_set.idle_unclaimed,
        tables=of_set.tables,
        views=of_set.views,
        groups=tuple(groups),
        # A view is looked at for rules that lack a claim, too: only so it shows that they had something to judge.
        active=tuple([at for at, group in enumerate(groups) if group.steps or group.unclaimed]),
        beside=tuple([at for at, group in enumerate(groups) if group.beside]),
        late=tuple(
            [at for at, group in enumerate(groups) if group.late or (group.unclaimed and not of_set.views[at].between)]
        ),
        each=tuple(
            [at for at, group in enumerate(groups) if group.each or (group.unclaimed and of_set.views[at].between)]
        ),
        by_schema=of_set.by_schema,
        settled=of_set.settled,
        until=of_set.until,
        known=Known({}, {}),
    )


@lru_cache(maxsize=64)
def _rule_set(chosen: _Rules, wire: str) -> _RuleSet:
    by_view: dict[View, list[tuple[int, Rule]]] = {}
    by_schema: dict[tuple[View, tuple[str, ...]], list[Step]] = {}
    for position, rule in enumerate(chosen.rules):
        if rule.by_schema:
            by_schema.setdefault((rule.on, rule.wires), []).append((position, rule.where, rule.judge))
        else:
            by_view.setdefault(rule.on, []).extend([(position, rule)] if wire in rule.wires else ())
    return _RuleSet(
        tuple([rule.id for rule in chosen.rules]),
        tuple([rule.outcomes[0] for rule in chosen.rules]),
        tuple([rule.outcomes[UNCLAIMED if rule.needs else 0] for rule in chosen.rules]),
        tuple([rule.outcomes for rule in chosen.rules]),
        tuple(by_view),
        tuple(map(_ViewRules, by_view.values())),
        tuple([(view, wires, tuple(listed)) for (view, wires), listed in by_schema.items()]),
        {position: rule.settled for position, rule in enumerate(chosen.rules) if rule.settled is not None},
        {position: rule.until for position, rule in enumerate(chosen.rules) if rule.until is not None},
    )


def _group(found: Sequence[tuple[int, Rule]]) -> RuleGroup:
    """Return rules of one view as they run."""
    beside = [each for each in found if each[1].reach is BESIDE]
    each = [each for each in found if is_kept(each[1])]
    late = [each for each in found if each[1].reach is not BESIDE and not is_kept(each[1])]
    # Most groups are all of one kind.
    steps = _steps(found)
    divided = [steps if len(part) == len(found) else _steps(part) for part in (beside, late, each)]
    return RuleGroup(steps, divided[0], divided[1], divided[2], frozenset())


def is_kept(rule: Rule) -> bool:
    """Return whether what a rule finds holds for the messages that a later request sends again."""
    return rule.reach not in (BESIDE, HISTORY) and (rule.on.between is not None or rule.on is requests)


def _steps(listed: Sequence[tuple[int, Rule]]) -> Steps:
    sharing: dict[Where | None, list[Step]] = {}
    for position, rule in listed:
        sharing.setdefault(rule.among, []).append((position, rule.where, rule.judge))
    return tuple([(shared, tuple(each)) for shared, each in sharing.items()])
