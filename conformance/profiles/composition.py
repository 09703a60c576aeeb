"""Profiles made of two: one that builds on another, and what holds on every wire beside the section of one wire."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from conformance.profiles.claims import Histories, Model, Profile, uncached
from conformance.profiles.lifecycle import FOREVER


def extended(own: Profile, base: Profile) -> Profile:
    """Return a profile with the claims of its base that it does not make itself.

    An own claim replaces those of that name in the base, for all models; one about a model replaces them for that
    model. URL, key, hosts, note and lifecycle are those of a service, so they are not taken over. Nor is that
    of a model, which one host may serve when another no longer does.
    """
    # Names of models are compared without case everywhere.
    mine = {each.name.lower(): each for each in own.models}
    theirs = [_merged(mine.pop(each.name.lower(), None), each, own.claims, base.name) for each in base.models]
    made = replace(
        own,
        model=own.model or base.model,
        max_tokens=base.max_tokens if own.max_tokens is None else own.max_tokens,
        models=(*mine.values(), *theirs),
        claims={**_inherited(base.claims, own.claims, base.name), **own.claims},
        as_of="",
        extends=(base.name, *base.extends),
        protocols={**own.protocols, **{wire: _on_wire(own, each) for wire, each in base.protocols.items()}},
        _breaks=(),
        **uncached(),
    )
    return with_last_day(made)


def with_last_day(profile: Profile) -> Profile:
    """Return a profile whose `as_of` is the last day of its own claims and of those on all wires."""
    days = [each.as_of for each in (profile, *profile.protocols.values()) if each.as_of != FOREVER]
    return replace(profile, as_of=max(days, default=FOREVER))


def _on_wire(own: Profile, section: Profile) -> Profile:
    """Return the base's profile of another wire as served by this service, with what it claims of that wire itself."""
    if section.wire in own.protocols:
        return extended(own.protocols[section.wire], section)
    name, title = f"{own.name}.{section.wire}", f"{own.title} ({section.wire})"
    return replace(section, name=name, title=title, base_url=own.base_url, key=own.key, hosts=own.hosts)


def _merged(own: Model | None, base: Model, claimed: Collection[str], origin: str) -> Model:
    """Return the claims about a model of the base, without those that the own profile makes for all models."""
    inherited = _inherited(base.claims, claimed, origin)
    if own is None:
        return base._replace(claims=inherited, lifecycle=())
    return own._replace(
        claims={**{name: each for name, each in inherited.items() if name not in own.claims}, **own.claims},
        note=own.note or base.note,
    )


def _inherited(claims: Histories, claimed: Collection[str], origin: str) -> Histories:
    return {
        name: tuple([replace(each, origin=each.origin or origin) for each in history])
        for name, history in claims.items()
        if name not in claimed
    }


def on_wire(shared: Profile, section: Profile, wire: str) -> Profile:
    """Return the profile of another wire: what it says itself, and beside it what holds on every wire.

    A model of both has the claims of both; where both make one, that of the wire holds.
    """
    own = {model.name for model in section.models}
    theirs = {model.name: model for model in shared.models}
    models = [_model_on_wire(model, theirs.get(model.name)) for model in section.models]
    return replace(
        shared,
        title=f"{shared.title} ({wire})",
        base_url=section.base_url or shared.base_url,
        model=section.model or shared.model,
        note=section.note,
        models=ordered([*models, *[model for model in shared.models if model.name not in own]]),
        claims={**shared.claims, **section.claims},
        as_of=section.as_of,
        _breaks=(),
    )


def _model_on_wire(own: Model, shared: Model | None) -> Model:
    if shared is None:
        return own
    lifecycle = own.lifecycle or shared.lifecycle
    return own._replace(claims={**shared.claims, **own.claims}, note=own.note or shared.note, lifecycle=lifecycle)


def ordered(models: Sequence[Model]) -> tuple[Model, ...]:
    """Return model entries in the order of precedence: names before globs, longer ones first."""
    return tuple(sorted(models, key=lambda model: (_is_glob(model.name), -len(model.name))))


def _is_glob(name: str) -> bool:
    return "*" in name or "?" in name
