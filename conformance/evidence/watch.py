"""What a rule looks at: which claims it asks for as it judges a reply, and which deviations a request holds."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final

from conformance.documents import read_json
from conformance.engine import check
from conformance.profiles import UNKNOWN, Claims, Profile
from conformance.resources import folder
from conformance.rules import Rule, load
from conformance.wire.exchange import Exchange
from conformance.wire.views import Side


class Watch:
    """Notes which rule judged a part of which exchange, and which claims it asked for meanwhile."""

    def __init__(self) -> None:
        self.key: tuple[str, int] | None = None
        self._asked: dict[tuple[str, int], set[str]] = {}
        self._judged: set[tuple[str, int]] = set()

    def ask(self, name: str) -> None:
        """Note that a claim was asked for; nobody is noted while no rule judges."""
        if self.key is not None:
            self._asked.setdefault(self.key, set()).add(name)

    def judge(self, rule: Rule, number: int) -> None:
        """Note that a rule judges a part of an exchange."""
        self._judged.add((rule.id, number))
        self._asked.setdefault((rule.id, number), set()).update(rule.needs)

    def claims(self, claims: Claims) -> Claims:
        """Return the claims in a form that notes what is asked for."""
        return _Claims(claims, self)

    def judged(self, rule: str, number: int) -> bool:
        """Say whether a rule judged a part of an exchange."""
        return (rule, number) in self._judged

    def asked(self, rule: str, number: int) -> set[str]:
        """Return the claims that a rule asked for."""
        return self._asked.get((rule, number), set())


class _Claims(dict[str, Any]):
    """Claims that say which of them are asked for."""

    def __init__(self, claims: Mapping[str, Any], watch: Watch) -> None:
        super().__init__(claims)
        self._watch = watch

    def __getitem__(self, name: str) -> Any:
        self._watch.ask(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._watch.ask(str(name))
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a claim's value, and note that it was asked for."""
        self._watch.ask(name)
        return super().get(name, default)


class _Changed(Profile):
    """A profile whose claims pass through a function first."""

    __slots__ = ("_change", "_profile")

    _change: Callable[[Claims], Claims]
    _profile: Profile

    def at(self, model: str = "", date: str = "") -> Claims:
        """Return the changed claims that hold for a model on a day."""
        return self._change(self._profile.at(model, date))


def changed(profile: Profile, change: Callable[[Claims], Claims]) -> Profile:
    """Return a profile with other claims."""
    made = _Changed(profile.name)
    object.__setattr__(made, "_profile", profile)
    object.__setattr__(made, "_change", change)
    return made


def watching(watch: Watch) -> tuple[Rule, ...]:
    """Return every rule; those that judge providers tell the watch what they judge and ask for."""
    return tuple([_watched(rule, watch) if rule.on.side is Side.PROVIDER else rule for rule in load()])


def _watched(rule: Rule, watch: Watch) -> Rule:
    """Return the rule with a judge that says when it judges what."""

    def judge(part: Any, context: Any) -> Any:
        watch.judge(rule, part.place[0])
        watch.key = rule.id, part.place[0]
        try:
            faults = rule.judge(part, context)
            return None if faults is None else list(faults)
        finally:
            watch.key = None

    def where(part: Any, context: Any) -> bool:
        watch.key = rule.id, part.place[0]
        try:
            return rule.where is None or rule.where(part, context)
        finally:
            watch.key = None

    return replace(rule, judge=judge, where=where)


_MARK: Final = 599
"""The status that stands for "this deviation was met"; no provider is claimed to answer with it."""


def deviations(exchanges: tuple[Exchange, ...], profile: Profile) -> dict[tuple[str, str, str], str]:
    """Return the claim that each deviation of the requests is about, by rule, place and message of its finding.

    Found by judging once more, with every verdict replaced by a refusal that bears its claim's name: a rule that
    keeps silent about what is accepted speaks up then.
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
    if value != UNKNOWN and kind in ("bound", "constraint"):
        return {**value, "refusal": mark}
    if value != UNKNOWN and kind in ("conflicts", "fields-refused", "fixed"):
        return [{**each, ("verdict" if "verdict" in each else "refusal"): mark} for each in value]
    return value


@cache
def kinds() -> Mapping[str, str]:
    """Return the kind of value of each claim, as `schemas/files/profile.json` has it."""
    schema: Any = read_json(folder("schemas") / "files" / "profile.json")
    claims = schema["$defs"]["claims"]["properties"]
    return {name: each["$ref"].rpartition("/")[2].removesuffix("-claim") for name, each in claims.items()}
