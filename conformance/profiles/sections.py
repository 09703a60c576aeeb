"""The sections of a profile about other wires, each beside what holds on every wire."""

from collections.abc import Sequence
from dataclasses import replace

from conformance.profiles.claims import Model, Profile


def on_wire(shared: Profile, section: Profile, wire: str) -> Profile:
    """Return the profile of another wire: what it says itself, and beside it what holds on every wire.

    A model of both has the claims of both; where both make one, that of the wire holds.
    """
    own = {model.name for model in section.models}
    theirs = {model.name: model for model in shared.models}
    models = [_merged(model, theirs.get(model.name)) for model in section.models]
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


def _merged(own: Model, shared: Model | None) -> Model:
    if shared is None:
        return own
    lifecycle = own.lifecycle or shared.lifecycle
    return own._replace(claims={**shared.claims, **own.claims}, note=own.note or shared.note, lifecycle=lifecycle)


def ordered(models: Sequence[Model]) -> tuple[Model, ...]:
    """Return model entries in the order of precedence: names before globs, longer ones first."""
    return tuple(sorted(models, key=lambda model: (_is_glob(model.name), -len(model.name))))


def _is_glob(name: str) -> bool:
    return "*" in name or "?" in name
