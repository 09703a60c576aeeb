"""What is claimed of each provider's wire: one YAML file a provider, resolved for a model and a day.

The names, types and meanings of claims are in `schemas/files/profile.json` alone. A claim that a profile omits is as
the canonical wire; one whose value is `unknown` was looked for and not found.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from conformance import definitions
from conformance.documents import read_json
from conformance.documents.pointer import Place, resolve
from conformance.errors import UnknownName
from conformance.resources import folder
from conformance.schemas import SchemaError

UNKNOWN = "unknown"
UPSTREAM = "upstream"

Claims: TypeAlias = Mapping[str, Any]
"""Values by claim name, those that hold for one model on one day."""

_FOLDER = Path(__file__).parent
_TODAY = "9999"
_REGEXES = frozenset({"ids.format", "ids.format-in-stream", "reply.id-format"})
_PLAIN = ("title", "kind", "base_url", "key", "model", "max_tokens", "note")
_HOSTS = re.compile(r"^hosts: *\[(.*)\] *$", re.MULTILINE)


class Source(NamedTuple):
    """Where a fact is known from: an address, the words quoted from there, and the ISO 8601 day it was read."""

    url: str
    quote: str = ""
    read: str = ""


class Disagreement(NamedTuple):
    """What another source says instead."""

    value: Any
    source: Source
    note: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One value of one claim, and how it is known.

    `since` is the first day on which it holds, `until` the first on which it holds no more: prefixes of ISO 8601
    days, empty where there is no bound. `versions` says the same of an engine's releases, for people.
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
        """Say whether the claim is in force on a day."""
        return self.since <= day and (not self.until or day < self.until)


Histories: TypeAlias = Mapping[str, tuple[Claim, ...]]
"""Claims by name, those of one name in the order of their dates."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model's own claims, under its name or a glob for several."""

    name: str
    claims: Histories
    note: str = ""

    def fits(self, model: str) -> bool:
        """Say whether this entry is about a model; `model` is in lower case."""
        return fnmatchcase(model, self.name.lower())


@dataclass(frozen=True, slots=True)
class Profile:
    """A provider and what is claimed of it.

    `models` stand in the order in which their claims go before each other: names before globs, longer ones first.
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
        """Return the values that hold for a model on a day (ISO 8601; empty: today).

        What follows an upstream is `unknown` here; `claim` tells it apart.
        """
        layers = self._fitting(model)
        key = layers, bisect_right(self._breaks, date or _TODAY)
        found = self._resolved.get(key)
        if found is None:
            each = {name: self._in_force(name, layers, date) for name in self._names(layers)}
            found = {name: _value(claim) for name, claim in each.items() if claim is not None}
            self._resolved[key] = found
        return found

    def claim(self, name: str, model: str = "", date: str = "") -> Claim | None:
        """Return the claim of that name that holds for a model on a day, with its source; None where none does."""
        return self._in_force(name, self._fitting(model), date)

    def wearing(self, claims: Claims) -> "Profile":
        """Return a profile that makes these claims of every model at all times, and else those of this one."""
        worn = {name: (Claim(name, value),) for name, value in claims.items()}
        models = [
            replace(model, claims={name: history for name, history in model.claims.items() if name not in worn})
            for model in self.models
        ]
        return replace(self, models=tuple(models), claims={**self.claims, **worn}, _layers={}, _resolved={})

    def _fitting(self, model: str) -> tuple[int, ...]:
        """Return the numbers of the model entries that are about a model."""
        found = self._layers.get(model)
        if found is None:
            wanted = model.lower()
            found = tuple([number for number, each in enumerate(self.models) if each.fits(wanted)])
            self._layers[model] = found
        return found

    def _names(self, layers: tuple[int, ...]) -> dict[str, None]:
        names = dict.fromkeys(self.claims)
        for number in layers:
            names |= dict.fromkeys(self.models[number].claims)
        return names

    def _in_force(self, name: str, layers: tuple[int, ...], date: str) -> Claim | None:
        """Return the newest claim in force; the first entry that mentions a claim has the whole say about it."""
        for claims in (*(self.models[number].claims for number in layers), self.claims):
            if name in claims:
                day = date or _TODAY
                return next((claim for claim in reversed(claims[name]) if claim.holds(day)), None)
        return None


def names() -> tuple[str, ...]:
    """Return the name of every profile."""
    return definitions.names(_FOLDER)


def load(name: str) -> Profile:
    """Return the profile of that name; raises UnknownName, or InvalidDocument with file, line and pointer."""
    return read(definitions.find("provider", name, _FOLDER))


def read(path: Path) -> Profile:
    """Return the profile in a file; raises InvalidDocument with file, line and pointer."""
    return _profile(path.stem, definitions.read(path, "profile", _errors, _unknown_claim).value)


def of(claims: Claims, name: str = "") -> Profile:
    """Return a profile that makes these claims of every model at all times."""
    return Profile(name, claims={each: (Claim(each, value),) for each, value in claims.items()})


def by_host(host: str) -> str | None:
    """Return the name of the profile that knows a host name; None where none does.

    Only the line with the hosts is read of each profile: to load them all would take longer than to judge a file.
    """
    wanted = host.lower()
    for name in names():
        line = _HOSTS.search((_FOLDER / f"{name}.yaml").read_text("utf-8"))
        known = [each.strip(" \"'") for each in line[1].split(",")] if line else []
        if any(fnmatchcase(wanted, each) for each in known):
            return name
    return None


@cache
def vocabulary() -> Mapping[str, str]:
    """Return what every claim means, by its name."""
    schema: Any = read_json(folder("schemas") / "files" / "profile.json")
    return {name: each["description"] for name, each in schema["$defs"]["claims"]["properties"].items()}


def thinks(claims: Claims, body: Any) -> bool | None:
    """Say whether the model thinks that answers a request body; None where the claims do not tell."""
    mode = claims.get("thinking.mode")
    if mode in ("always", "never"):
        return bool(mode == "always")
    switches = claims.get("thinking.switches")
    for switch in switches if isinstance(switches, list) else ():
        if matches(switch, body):
            return bool(switch["thinks"])
    return {"default-on": True, "default-off": False}.get(mode) if isinstance(mode, str) else None


def matches(condition: Mapping[str, Any], body: Any) -> bool:
    """Say whether a request body meets a condition: `at` a pointer, and `equals`, `in`, `not-in` or `present`.

    Null counts as not present, as it does on the wire. A condition with `at` alone asks for presence.
    """
    try:
        value = resolve(body, condition["at"])
    except LookupError:
        value = None
    if "equals" in condition:
        return _same(value, condition["equals"])
    if "in" in condition:
        return any(_same(value, each) for each in condition["in"])
    if "not-in" in condition:
        return not any(_same(value, each) for each in condition["not-in"])
    return (value is not None) is condition.get("present", True)


def _same(left: Any, right: Any) -> bool:
    """Compare JSON values; unlike in Python, true is not 1."""
    return isinstance(left, bool) is isinstance(right, bool) and bool(left == right)


def _value(claim: Claim) -> Any:
    return UNKNOWN if claim.value == UPSTREAM else claim.value


def _profile(name: str, value: Mapping[str, Any]) -> Profile:
    models = [
        Model(each, _histories(entry.get("claims", {})), entry.get("note", ""))
        for each, entry in value.get("models", {}).items()
    ]
    models.sort(key=lambda model: (_is_glob(model.name), -len(model.name)))
    claims = _histories(value["claims"])
    dated = [claims, *(model.claims for model in models)]
    breaks = {
        day
        for histories in dated
        for history in histories.values()
        for claim in history
        for day in (claim.since, claim.until)
    }
    return Profile(
        name,
        **{key: value[key] for key in _PLAIN if key in value},
        hosts=tuple(value.get("hosts", ())),
        models=tuple(models),
        claims=claims,
        _breaks=tuple(sorted(breaks - {""})),
    )


def _histories(claims: Mapping[str, Any]) -> Histories:
    return {name: tuple([_claim(name, entry) for entry in _listed(entries)]) for name, entries in claims.items()}


def _claim(name: str, entry: Mapping[str, Any]) -> Claim:
    return Claim(
        name,
        entry["value"],
        since=entry.get("since", ""),
        until=entry.get("until", ""),
        versions=entry.get("versions", ""),
        source=tuple([_source(each) for each in _listed(entry["source"])]),
        confidence=entry["confidence"],
        note=entry.get("note", ""),
        disagrees=tuple(
            [
                Disagreement(each["value"], _source(each["source"]), each.get("note", ""))
                for each in entry.get("disagrees", ())
            ]
        ),
    )


def _source(value: Any) -> Source:
    return Source(value) if isinstance(value, str) else Source(**value)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else (value,)


def _is_glob(name: str) -> bool:
    return "*" in name or "?" in name


def _unknown_claim(error: SchemaError) -> str:
    """Return the message about a key that is no claim, with the nearest names; empty for any other error."""
    if error.place[-1:] == ("claims",) and error.extra:
        return str(UnknownName("claim", error.extra[0], vocabulary()))
    return ""


def _errors(value: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """Find what a schema cannot say: expressions that Python does not take, dates out of order, names that clash."""
    seen: dict[str, str] = {}
    for name in value.get("models", {}):
        if seen.setdefault(name.lower(), name) != name:
            yield ("models", name), f"expected each model once, got {seen[name.lower()]!r} and {name!r}"
    holders: list[tuple[Place, Mapping[str, Any]]] = [(("claims",), value["claims"])]
    for name, model in value.get("models", {}).items():
        holders.append((("models", name, "claims"), model.get("claims", {})))
    for place, claims in holders:
        for name, entries in claims.items():
            yield from _dates((*place, name), entries)
            for at, entry in _entries((*place, name), entries):
                yield from _expressions(name, (*at, "value"), entry["value"])


def _entries(place: Place, entries: Any) -> Iterable[tuple[Place, Mapping[str, Any]]]:
    if isinstance(entries, list):
        return [((*place, number), entry) for number, entry in enumerate(entries)]
    return [(place, entries)]


def _dates(place: Place, entries: Any) -> Iterator[tuple[Place, str]]:
    before: Mapping[str, Any] = {}
    for at, entry in _entries(place, entries):
        since, until = entry.get("since", ""), entry.get("until", "")
        if until and until <= since:
            yield (*at, "until"), f"expected a day after {since}, got {until}"
        if before and since <= before.get("since", ""):
            earlier = before.get("since") or "the beginning"
            yield at, f"expected an entry that begins after the one before it ({earlier}), got {since or 'none'}"
        if before and since < before.get("until", ""):
            yield at, f"expected an entry that begins when the one before it ends ({before['until']}), got {since}"
        before = entry


def _expressions(name: str, place: Place, value: Any) -> Iterator[tuple[Place, str]]:
    found: list[tuple[Place, Any]] = []
    if name in _REGEXES:
        found = [((*place, at) if isinstance(value, list) else place, each) for at, each in enumerate(_listed(value))]
    elif isinstance(value, dict) and "pattern" in value:
        found = [((*place, "pattern"), value["pattern"])]
    for at, each in found:
        try:
            re.compile(each)
        except re.error as error:
            yield at, f"expected a regular expression, got {each!r}: {error}"
