"""What rules look at: the claims that they read when they check a reply, and the deviations that a request holds."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from conformance.judge import check
from conformance.observations.sights import kinds
from conformance.profiles import REFUSING, UNKNOWN, Claims, Profile
from conformance.rules import Rule, load
from conformance.wire.exchange import Exchange
from conformance.wire.views import Side


class Reads:
    """Records which rule checked which exchange, and which claims it read meanwhile."""

    def __init__(self) -> None:
        self.current: tuple[str, int] | None = None
        self._claims: dict[tuple[str, int], set[str]] = {}
        self._checked: set[tuple[str, int]] = set()

    def add_claim(self, name: str) -> None:
        """Record that the current rule reads a claim; outside a rule nothing is recorded."""
        if self.current is not None:
            self._claims.setdefault(self.current, set()).add(name)

    def add_check(self, rule: Rule, number: int) -> None:
        """Record that a rule checks an exchange; the claims that it needs count as read."""
        self._checked.add((rule.id, number))
        self._claims.setdefault((rule.id, number), set()).update(rule.needs)

    def observed(self, claims: Claims) -> Claims:
        """Return the claims in a form that records which of them are read."""
        return _RecordingClaims(claims, self)

    @property
    def names(self) -> frozenset[str]:
        """Return every claim that some rule read."""
        return frozenset(name for names in self._claims.values() for name in names)

    def is_checked(self, rule: str, number: int) -> bool:
        """Return whether a rule checked an exchange."""
        return (rule, number) in self._checked

    def claims(self, rule: str, number: int) -> set[str]:
        """Return the claims that a rule read for an exchange."""
        return self._claims.get((rule, number), set())


class _RecordingClaims(dict[str, Any]):
    """Claims that record which of them are read."""

    def __init__(self, claims: Mapping[str, Any], reads: Reads) -> None:
        super().__init__(claims)
        self._reads = reads

    def __getitem__(self, name: str) -> Any:
        self._reads.add_claim(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._reads.add_claim(str(name))
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a claim's value, and record that it was read."""
        self._reads.add_claim(name)
        return super().get(name, default)


class _ChangedProfile(Profile):
    """A profile whose claims go through a function first."""

    __slots__ = ("_change", "_made", "_profile", "_wires")

    _change: Callable[[Claims], Claims]
    _made: dict[int, tuple[Claims, Claims]]
    _profile: Profile
    _wires: dict[str, Profile]

    def on(self, protocol: str) -> Profile:
        """Return the profile of one wire, whose claims are changed too."""
        if protocol not in self._wires:
            self._wires[protocol] = changed(self._profile.on(protocol), self._change)
        return self._wires[protocol]

    def at(self, model: str = "", date: str = "") -> Claims:
        """Return the changed claims that hold for a model on a day; those of equal claims are one object."""
        claims = self._profile.at(model, date)
        if id(claims) not in self._made:
            # The claims are kept beside, so that no others get their id.
            self._made[id(claims)] = claims, self._change(claims)
        return self._made[id(claims)][1]

    def contested(self, model: str = "", date: str = "") -> Claims:
        """Return what other sources say of the claims as they are."""
        return self._profile.contested(model, date)


def changed(profile: Profile, change: Callable[[Claims], Claims]) -> Profile:
    """Return a profile whose claims for every model and day are changed by a function."""
    # The class is frozen and has no such fields, so its constructor cannot set them.
    made = _ChangedProfile(profile.name)
    for name, value in {"_profile": profile, "_change": change, "_made": {}, "_wires": {}}.items():
        object.__setattr__(made, name, value)
    return made


def observed_rules(reads: Reads) -> tuple[Rule, ...]:
    """Return every rule; the checks and reads of those that check providers are recorded."""
    return tuple([_observed(rule, reads) if rule.on.side is Side.PROVIDER else rule for rule in load()])


def _observed(rule: Rule, reads: Reads) -> Rule:
    """Return the rule with a check that records what it checks and reads."""

    def judge(part: Any, context: Any) -> Any:
        reads.add_check(rule, part.place[0])
        reads.current = rule.id, part.place[0]
        try:
            faults = rule.judge(part, context)
            # At once: a generator would read its claims after `current` is reset.
            return None if faults is None else list(faults)
        finally:
            reads.current = None

    def where(part: Any, context: Any) -> bool:
        reads.current = rule.id, part.place[0]
        try:
            # What a claim describes is no evidence against it, and must not count as a check of the rule.
            is_known = rule.known_by is not None and bool(rule.known_by(context))
            return not is_known and (rule.when is None or rule.when(context)) and rule.concerns(part, context)
        finally:
            reads.current = None

    # `when` moves into `where`, so that what it reads belongs to an exchange; `among` would pass exchanges over unseen.
    return replace(rule, judge=judge, among=None, where=where, when=None)


_MARK: Final = 599
"""The status that marks a deviation as found; no provider is claimed to answer with it."""


def deviations(exchanges: tuple[Exchange, ...], profile: Profile) -> dict[tuple[str, str, str], str]:
    """Return the claim that each deviation of the requests is about, by rule, place and message of its finding.

    Found by a second check, for which each deviation is claimed to be rejected with the name of its claim as the
    message: rules then report what is really accepted, too.
    """
    marked = changed(profile, lambda claims: {name: _marked(name, value) for name, value in claims.items()})
    rules = tuple([rule for rule in load() if rule.on.side is Side.CLIENT])
    return {
        (outcome.rule, finding.at, finding.message): finding.refusal.message or ""
        for outcome in check(exchanges, marked, rules)
        for finding in outcome.findings
        if finding.refusal is not None and finding.refusal.status == _MARK
    }


def _marked(name: str, value: Any) -> Any:
    kind = kinds().get(name)
    mark = {"status": _MARK, "message": name}
    if kind == "verdict":
        return mark
    if value != UNKNOWN and kind in REFUSING:
        return {**value, "refusal": mark}
    if value != UNKNOWN and kind in ("conflicts", "fields-refused", "fixed", "limits", "schema-limits"):
        return [{**each, ("verdict" if "verdict" in each else "refusal"): mark} for each in value]
    return value
