"""Claims and the profile that holds them, resolved for a model and a day."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.profiles.sources import Source

UNKNOWN = "unknown"
UPSTREAM = "upstream"

Claims: TypeAlias = Mapping[str, Any]
"""Values by claim name, as they hold for one model on one day."""

_TODAY = "9999"
_MAX_CACHED: Final = 256


class Disagreement(NamedTuple):
    """What another source says instead."""

    value: Any
    source: Source
    note: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One value of one claim, with its sources.

    `since` is the first day on which it holds, `until` the first day on which it no longer does: prefixes of ISO 8601
    days, empty if there is no bound. `versions` names the releases of an engine for readers.
    """

    name: str
    value: Any
    since: str = ""
    until: str = ""
    versions: str = ""
    source: tuple[Source, ...] = ()
    confidence: str = ""
    note: str = ""
    disagrees: tuple[Disagreement, ...] = ()

    def holds(self, day: str) -> bool:
        """Return True if the claim holds on a day."""
        return self.since <= day and (not self.until or day < self.until)


Histories: TypeAlias = Mapping[str, tuple[Claim, ...]]
"""Claims by name; those of one name are in the order of their dates."""


@dataclass(frozen=True, slots=True)
class Model:
    """The claims of one model, or of the models that a glob matches."""

    name: str
    claims: Histories
    note: str = ""

    def matches(self, model: str) -> bool:
        """Return True if this entry is about a model; `model` is in lower case."""
        return fnmatchcase(model, self.name.lower())


@dataclass(frozen=True, slots=True)
class Profile:
    """A provider and the claims about it.

    `models` are in order of precedence: names before globs, longer ones first.
    `model` is what a live run asks for, `key` the environment variable with the API key, `hosts` the host names (or
    globs) that tell the provider.
    """

    name: str
    title: str = ""
    kind: str = ""
    base_url: str = ""
    key: str = ""
    hosts: tuple[str, ...] = ()
    model: str = ""
    max_tokens: int | None = None
    note: str = ""
    models: tuple[Model, ...] = ()
    claims: Histories = field(default_factory=dict)
    _breaks: tuple[str, ...] = field(default=(), repr=False, compare=False)
    _layers: dict[str, tuple[int, ...]] = field(default_factory=dict, repr=False, compare=False)
    _resolved: dict[tuple[tuple[int, ...], int], Claims] = field(default_factory=dict, repr=False, compare=False)

    def at(self, model: str = "", date: str = "") -> Claims:
        """Return the values of the claims for a model on a day (ISO 8601; empty means today).

        A value that depends on an upstream is `unknown` here; `claim` returns it as `upstream`.
        """
        layers = self._matching(model)
        key = layers, bisect_right(self._breaks, date or _TODAY)
        found = self._resolved.get(key)
        if found is None:
            each = {name: self._in_force(name, layers, date) for name in self._names(layers)}
            found = {name: _value(claim) for name, claim in each.items() if claim is not None}
            _bound(self._resolved)
            self._resolved[key] = found
        return found

    def claim(self, name: str, model: str = "", date: str = "") -> Claim | None:
        """Return the claim of that name for a model on a day, with its sources; None if there is none."""
        return self._in_force(name, self._matching(model), date)

    def with_claims(self, claims: Claims) -> "Profile":
        """Return this profile with some claims replaced for every model and all dates."""
        replaced = {name: (Claim(name, value),) for name, value in claims.items()}
        models = [
            replace(model, claims={name: history for name, history in model.claims.items() if name not in replaced})
            for model in self.models
        ]
        return replace(self, models=tuple(models), claims={**self.claims, **replaced}, _layers={}, _resolved={})

    def _matching(self, model: str) -> tuple[int, ...]:
        """Return the positions of the model entries that are about a model."""
        found = self._layers.get(model)
        if found is None:
            wanted = model.lower()
            found = tuple([number for number, each in enumerate(self.models) if each.matches(wanted)])
            _bound(self._layers)
            self._layers[model] = found
        return found

    def _names(self, layers: tuple[int, ...]) -> dict[str, None]:
        names = dict.fromkeys(self.claims)
        for number in layers:
            names |= dict.fromkeys(self.models[number].claims)
        return names

    def _in_force(self, name: str, layers: tuple[int, ...], date: str) -> Claim | None:
        """Return the newest claim that holds; the first entry with a claim of that name decides."""
        for claims in (*(self.models[number].claims for number in layers), self.claims):
            if name in claims:
                day = date or _TODAY
                return next((claim for claim in reversed(claims[name]) if claim.holds(day)), None)
        return None


def of(claims: Claims, name: str = "") -> Profile:
    """Return a profile with these claims for every model and all dates."""
    return Profile(name, claims={each: (Claim(each, value),) for each, value in claims.items()})


def _value(claim: Claim) -> Any:
    return UNKNOWN if claim.value == UPSTREAM else claim.value


def _bound(cached: dict[Any, Any]) -> None:
    """Empty a full cache, so that memory stays constant in a process that sees ever new model names."""
    if len(cached) >= _MAX_CACHED:
        cached.clear()
