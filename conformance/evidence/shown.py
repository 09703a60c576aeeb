"""Which claims a recording shows: those whose other values would have been reported.

A rule that reads a claim and finds nothing does not show the claim: a reply without reasoning says nothing of the field
that carries it. So each exchange is checked again with other values of the claim. Only if some other value would have
changed what is found in the exchange does the exchange show the value that is claimed.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final, TypeAlias

from conformance.documents import read_json
from conformance.evidence.reads import changed
from conformance.judge import check
from conformance.observations.sights import kinds
from conformance.profiles import UNKNOWN, Claims, Profile
from conformance.resources import folder
from conformance.results import Status
from conformance.rules import Rule, load
from conformance.wire.exchange import Exchange
from conformance.wire.views import Side

_Findings: TypeAlias = frozenset[tuple[str, str, str]]
"""Rule, place and level of what was found."""

_PLAIN: Final[Mapping[str, tuple[Any, ...]]] = {
    "flag": (True, False),
    # Matches nothing.
    "pattern": ("(?!)",),
    "words": ((),),
    "word": ("no such word",),
    "reasons": ("no such reason",),
    "status": (599,),
    "number": (999,),
}
"""Values that no reply has, or all values, of the kinds whose values the schema does not list."""


def shown(
    conversation: tuple[Exchange, ...], profile: Profile, candidates: Mapping[int, Collection[str]]
) -> Mapping[int, frozenset[str]]:
    """Return the claims that each exchange shows, by its number; `candidates` are those that may be shown."""
    wanted = {name for names in candidates.values() for name in names}
    found: dict[int, set[str]] = {number: set() for number in candidates}
    for group in _groups(frozenset(wanted)):
        rules = tuple([rule for rule in _rules() if set(rule.reads) & set(group)])
        before = _found(conversation, profile, rules)
        for attempt in range(max(len(_others(name)) for name in group)):
            other = changed(profile, partial(_changed, group=group, attempt=attempt))
            after = _found(conversation, other, rules)
            for number, names in candidates.items():
                found[number] |= {
                    name
                    for name in names
                    if name in group and _about(before, name, number) != _about(after, name, number)
                }
    return {number: frozenset(names) for number, names in found.items()}


@cache
def _rules() -> tuple[Rule, ...]:
    return tuple([rule for rule in load() if rule.on.side is Side.PROVIDER])


@cache
def _groups(names: frozenset[str]) -> tuple[tuple[str, ...], ...]:
    """Return the claims in groups of which no rule reads two, so that all of a group can be changed at once."""
    groups: list[tuple[list[str], set[str]]] = []
    for name in sorted(names):
        readers = {rule.id for rule in _rules() if name in rule.reads}
        held = next((each for each in groups if not each[1] & readers), None)
        if held is None:
            groups.append(([name], readers))
        else:
            held[0].append(name)
            held[1].update(readers)
    return tuple([tuple(members) for members, _ in groups])


def _found(conversation: tuple[Exchange, ...], profile: Profile, rules: Sequence[Rule]) -> Mapping[int, _Findings]:
    """Return what rules find, by the number of the exchange."""
    found: dict[int, set[tuple[str, str, str]]] = {}
    for outcome in check(conversation, profile, rules):
        if outcome.status is not Status.ERRORED:
            for finding in outcome.findings:
                # A place begins with the number of the exchange.
                number = int(finding.at.split("/")[1])
                found.setdefault(number, set()).add((outcome.rule, finding.at, finding.level.value))
    return {number: frozenset(each) for number, each in found.items()}


def _about(found: Mapping[int, _Findings], name: str, number: int) -> _Findings:
    readers = _readers(name)
    return frozenset(each for each in found.get(number, ()) if each[0] in readers)


@cache
def _readers(name: str) -> frozenset[str]:
    return frozenset(rule.id for rule in _rules() if name in rule.reads)


def _changed(claims: Claims, group: Sequence[str], attempt: int) -> Claims:
    changed_claims = dict(claims)
    for name in group:
        others = _others(name)
        # Claims with fewer values than others of their group start again; a repeated value finds nothing new.
        value = others[attempt % len(others)]
        if name in claims and not _holds(claims[name], value):
            # Values are cached, so lists are tuples there; rules expect what YAML gives.
            changed_claims[name] = list(value) if isinstance(value, tuple) else value
    return changed_claims


def _holds(claimed: Any, value: Any) -> bool:
    """Return whether a claimed value is another value, or lists it."""
    return bool(claimed == value or (isinstance(claimed, list) and (value in claimed or claimed == list(value or ()))))


@cache
def _others(name: str) -> tuple[Any, ...]:
    """Return the values that a claim could have instead; `unknown` is one of them."""
    kind = kinds()[name]
    return (*(_PLAIN.get(kind) or _listed(kind)), UNKNOWN)


def _listed(kind: str) -> tuple[Any, ...]:
    """Return the values of a kind, if its schema lists them."""
    schema: Any = read_json(folder("schemas") / "files" / "profile.json")
    return tuple(_enumerated(schema["$defs"][kind]))


def _enumerated(schema: Mapping[str, Any]) -> Iterator[Any]:
    if "enum" in schema:
        yield from schema["enum"]
    elif "then" in schema:
        yield from _enumerated(schema["then"])
    elif "items" in schema:
        yield from ((each,) for each in _enumerated(schema["items"]))
