"""Claims and the profile that holds them, resolved for a model and a day."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.profiles.lifecycle import FOREVER, Lifecycle, Period, is_served, period_on
from conformance.profiles.sources import Source
from conformance.wire.native import CHAT
from conformance.wires import NATIVE

UNKNOWN = "unknown"
UPSTREAM = "upstream"

Claims: TypeAlias = Mapping[str, Any]
"""Values by claim name, as they hold for one model on one day."""

SHARED: Final = ("thinking.mode", "tools.supported", "tools.parallel")
"""The claims about a model rather than a wire: they hold on every wire of a provider."""

REFUSING: Final = frozenset({"verdict", "bound", "constraint", "kinds"})
"""The kinds of claims about a deviation: only a request that has it shows them, by its answer."""

_MAX_CACHED: Final = 256
_LONGEST_NAME: Final = 256
_TURNS: Final = ("plain-turn", "earlier-tool-turn")
_OPPOSITES: Final = {
    name: other
    for turn in _TURNS
    for name, other in (
        (f"reasoning.omitted-on-{turn}", f"reasoning.on-{turn}"),
        (f"reasoning.on-{turn}", f"reasoning.omitted-on-{turn}"),
    )
}
"""Claims about sending something, and those about leaving it out: a request does one or the other."""


class Disagreement(NamedTuple):
    """What another source says instead."""

    value: Any
    source: Source
    note: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One value of one claim, with its sources.

    `since` is the first day on which it holds, `until` the first day on which it no longer does: prefixes of ISO 8601
    days, empty if there is no bound. `versions` names the releases of an engine for readers. `origin` is the name of
    the profile that makes the claim, if it is one that the profile at hand extends.
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
    origin: str = ""

    def holds(self, day: str) -> bool:
        """Return True if the claim holds on a day."""
        return self.since <= day and (not self.until or day < self.until)


Histories: TypeAlias = Mapping[str, tuple[Claim, ...]]
"""Claims by name; those of one name are in the order of their dates."""


class Model(NamedTuple):
    """The claims of one model, or of the models that a glob matches."""

    name: str
    claims: Histories
    note: str = ""
    lifecycle: Lifecycle = ()

    def matches(self, model: str) -> bool:
        """Return True if this entry is about a model; `model` is in lower case."""
        return fits_glob(model, self.name.lower())


class _Layers(NamedTuple):
    """What is known of a name in a period: whether it is served, and positions of model entries.

    `aliases` are the entries by which it is an alias, `own` those about the model that answers.
    """

    aliases: tuple[int, ...]
    own: tuple[int, ...]
    served: bool


_InForce: TypeAlias = tuple[Any, Any]
"""The value of a claim, and the refusal that another source gives instead; None if there is none."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A provider and the claims about it.

    `models` are in order of precedence: names before globs, longer ones first.
    `model` is what a live run asks for, `key` the environment variable with the API key, `hosts` the host names (or
    globs) that tell the provider. `lifecycle` is that of the whole service. `as_of` is the last ISO 8601 day on which
    a source was read; an empty date means that day. `path` is the file of a profile that is not found by its name.
    `extends` names the profiles that it builds on, the nearest first. `protocols` are the provider's other wires, by
    name: what differs there, and the claims that hold there; such a profile is about its `wire` alone.
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
    lifecycle: Lifecycle = ()
    models: tuple[Model, ...] = ()
    claims: Histories = field(default_factory=dict)
    as_of: str = ""
    path: str = ""
    extends: tuple[str, ...] = ()
    protocols: Mapping[str, "Profile"] = field(default_factory=dict)
    wire: str = CHAT
    _breaks: tuple[str, ...] = field(default=(), repr=False, compare=False)
    _bare: dict[str, "Profile"] = field(default_factory=dict, repr=False, compare=False)
    _layers: dict[tuple[str, int], _Layers] = field(default_factory=dict, repr=False, compare=False)
    _resolved: dict[tuple[_Layers, int], Claims] = field(default_factory=dict, repr=False, compare=False)
    _contested: dict[tuple[_Layers, int], Claims] = field(default_factory=dict, repr=False, compare=False)
    _base: dict[int, dict[str, _InForce | None]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Collect the days on which something changes, and the last one on which a source was read."""
        if not self._breaks:
            days = {day for each in self._dated() for day in (each.since, each.until)}
            # object.__setattr__, because the class is frozen, and this is what its fields amount to.
            object.__setattr__(self, "_breaks", tuple(sorted(days - {""})))
        if not self.as_of:
            read = [source.read or source.searched for each in self._dated() for source in each.source]
            object.__setattr__(self, "as_of", max(filter(None, read), default=FOREVER))

    @property
    def wires(self) -> tuple[str, ...]:
        """Return the wires that the profile has claims about, chat completions first."""
        return (CHAT, *self.protocols) if self.claims else tuple(self.protocols)

    @property
    def presumed_wire(self) -> str:
        """The wire of a request that does not show its own: the only one of the provider, else chat completions."""
        return self.wires[0] if len(self.wires) == 1 else CHAT

    def on(self, protocol: str) -> "Profile":
        """Return the profile of one wire of the provider; only claims about its models hold on every wire."""
        if protocol in (CHAT, self.wire):
            return self
        return self.protocols.get(protocol) or self._shared(protocol)

    @property
    def service(self) -> str:
        """Return the name of the provider, whichever of its wires this profile is about."""
        return self.name if self.wire == CHAT else self.name.removesuffix(f".{self.wire}")

    def at(self, model: str = "", date: str = "") -> Claims:
        """Return the values of the claims for a model on a day (ISO 8601; empty means the day of `as_of`).

        A value that depends on an upstream is `unknown` here; `claim` returns it as `upstream`.
        """
        return self._settled(model, date or self.as_of, self._resolved)

    def contested(self, model: str = "", date: str = "") -> Claims:
        """Return the refusals of what the claims call accepted, ignored or unknown, though another source disagrees.

        They are keyed by claim. None is given for a deviation whose opposite is refused, too.
        """
        return self._settled(model, date or self.as_of, self._contested)

    def _settled(self, model: str, day: str, known: dict[tuple[_Layers, int], Claims]) -> Claims:
        """Return what is known of a model on a day: the claims, or what is contested, as they are kept."""
        layers = self._matching(model, day)
        # Between two days on which something changes, the claims are the same: one entry serves all days.
        key = layers, bisect_right(self._breaks, day)
        if key not in known:
            each = self._all_in_force(layers, day)
            refused = {name: refusal for name, (_, refusal) in each.items() if refusal is not None}
            sure = {name for name, (value, _) in each.items() if rejects_or_damages(value)} if refused else ()
            denied = {*refused, *sure}
            contested = {name: value for name, value in refused.items() if _OPPOSITES.get(name) not in denied}
            for kept, found in (
                (self._resolved, {name: value for name, (value, _) in each.items()}),
                (self._contested, contested),
            ):
                # What follows from claims is kept by their identity: those that are there stay.
                if key not in kept:
                    _bound(kept)
                    kept[key] = found
        return known[key]

    def claim(self, name: str, model: str = "", date: str = "") -> Claim | None:
        """Return the claim of that name for a model on a day, with its sources; None if there is none."""
        day = date or self.as_of
        return self._in_force(name, self._matching(model, day), day)

    @property
    def reference(self) -> str:
        """Return the text by which `load_profile` finds this profile: its name, or the path of its file."""
        return self.path or self.name

    def lifecycle_of(self, model: str) -> Lifecycle:
        """Return the lifecycle of a model: that of the first entry about it that has one."""
        wanted = model.lower()
        return next((each.lifecycle for each in self.models if each.lifecycle and each.matches(wanted)), ())

    def is_served(self, model: str, date: str = "") -> bool:
        """Return False if the provider is known not to serve a model by this name on a day."""
        return self._matching(model, date or self.as_of).served

    def with_claims(self, claims: Claims) -> "Profile":
        """Return this profile with some claims replaced for every model and all dates."""
        replaced = {name: (Claim(name, value),) for name, value in claims.items()}
        models = [
            model._replace(claims={name: history for name, history in model.claims.items() if name not in replaced})
            for model in self.models
        ]
        kept = {**self.claims, **replaced}
        return replace(self, models=tuple(models), claims=kept, **uncached())

    def _shared(self, protocol: str) -> "Profile":
        """Return this profile without the claims about chat completions, and remember it."""
        found = self._bare.get(protocol)
        if found is None:
            found = self._bare[protocol] = bare(self)
        return found

    def _dated(self) -> Iterator[Claim | Period]:
        yield from self.lifecycle
        for claims in (self.claims, *(model.claims for model in self.models)):
            for history in claims.values():
                yield from history
        for model in self.models:
            yield from model.lifecycle

    def _matching(self, model: str, day: str) -> _Layers:
        """Return the entries that are about a model on a day, by position."""
        key = model, bisect_right(self._breaks, day)
        found = self._layers.get(key)
        if found is None:
            aliases: list[int] = []
            own = self._entries(model)
            # An alias may lead to another one; two that name each other end the search.
            while (number := self._alias(own, day)) is not None and number not in aliases:
                aliases.append(number)
                period = period_on(self.models[number].lifecycle, day)
                own = self._entries(period.alias_of if period else "")
            others = tuple([each for each in own if each not in aliases])
            found = _Layers(tuple(aliases), others, is_served(self.lifecycle_of(model), day))
            # A peer chooses the name, and may send megabytes.
            if len(model) <= _LONGEST_NAME:
                _bound(self._layers)
                self._layers[key] = found
        return found

    def _entries(self, model: str) -> list[int]:
        wanted = model.lower()
        return [number for number, each in enumerate(self.models) if each.matches(wanted)]

    def _alias(self, entries: Sequence[int], day: str) -> int | None:
        """Return the entry that makes a name an alias on a day; the first one with a lifecycle decides."""
        number = next((each for each in entries if self.models[each].lifecycle), None)
        period = None if number is None else period_on(self.models[number].lifecycle, day)
        return number if period is not None and period.alias_of else None

    def _all_in_force(self, layers: _Layers, day: str) -> dict[str, _InForce]:
        """Return what the claims that hold say, by name."""
        changed = bisect_right(self._breaks, day)
        base = self._base.get(changed)
        if base is None:
            _bound(self._base)
            # Most of them are the same for all models.
            base = self._base[changed] = {name: _said(_newest(each, day)) for name, each in self.claims.items()}
        of_models = [self.models[number].claims for number in (*layers.aliases, *layers.own)]
        own = dict.fromkeys([name for claims in of_models for name in claims])
        found = {**base, **{name: _said(self._in_force(name, layers, day)) for name in own}}
        return {name: said for name, said in found.items() if said is not None}

    def _in_force(self, name: str, layers: _Layers, day: str) -> Claim | None:
        """Return the newest claim that holds; the first entry with a claim of that name decides.

        An alias decides only where a claim of its own holds, because the model that answers has changed.
        """
        for number in layers.aliases:
            found = _newest(self.models[number].claims.get(name, ()), day)
            if found is not None:
                return found
        for number in layers.own:
            claims = self.models[number].claims
            if name in claims:
                return _newest(claims[name], day)
        return _newest(self.claims.get(name, ()), day)


def of(claims: Claims, name: str = "") -> Profile:
    """Return a profile with these claims for every model and all dates, on every wire."""
    made = Profile(name, claims={each: (Claim(each, value),) for each, value in claims.items()})
    return replace(made, protocols={wire: replace(made, wire=wire) for wire in NATIVE})


def _newest(history: Sequence[Claim], day: str) -> Claim | None:
    for claim in reversed(history):
        if claim.holds(day):
            return claim
    return None


def _said(claim: Claim | None) -> _InForce | None:
    """Return what a claim says, and what another source does."""
    if claim is None:
        return None
    return UNKNOWN if claim.value == UPSTREAM else claim.value, _contested(claim)


def _contested(claim: Claim) -> Any:
    """Return the refusal that another source gives instead of a verdict that is none; None if there is none."""
    if not claim.disagrees or not isinstance(claim.value, str) or rejects_or_damages(claim.value):
        return None
    return next((other.value for other in claim.disagrees if rejects_or_damages(other.value)), None)


def _bound(cached: dict[Any, Any]) -> None:
    """Empty a full cache, so that memory stays constant in a process that sees ever new model names."""
    if len(cached) >= _MAX_CACHED:
        cached.clear()


def uncached() -> dict[str, Any]:
    """Return empty caches, since `replace` would share those of the former profile."""
    return {"_bare": {}, "_layers": {}, "_resolved": {}, "_contested": {}, "_base": {}}


def bare(profile: Profile) -> Profile:
    """Return a profile with only those claims that hold on every wire."""
    models = [model._replace(claims=_kept(model.claims)) for model in profile.models]
    cleared: dict[str, Any] = {"protocols": {}, "_breaks": (), **uncached()}
    return replace(profile, models=tuple(models), claims=_kept(profile.claims), **cleared)


def _kept(claims: Histories) -> Histories:
    return {name: history for name, history in claims.items() if name in SHARED}


def fits_glob(name: str, glob: str) -> bool:
    """Return whether a name matches a glob, as `fnmatch.fnmatchcase` does."""
    start = glob.removesuffix("*")
    if "*" in start or "?" in start or "[" in start:
        return fnmatchcase(name, glob)
    # To compile a pattern takes a hundred times as long.
    return name == glob if start == glob else name.startswith(start)


def rejects_or_damages(handling: Any) -> bool:
    """Return True if the provider is known to reject the deviation, or to corrupt its reply because of it."""
    # A mapping is a refusal, with its status and words.
    return handling == "damaged" if type(handling) is str else isinstance(handling, Mapping)


def tolerates(handling: Any) -> bool:
    """Return True if the provider is known to accept or ignore the deviation."""
    return handling in ("accepted", "ignored")
