"""Everything that cites sources: claims and lifecycles of profiles, rules, and scenarios."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from conformance import rules, scenarios
from conformance.evidence.cited import wanted
from conformance.profiles import UNKNOWN, UPSTREAM, Claim, Profile, Source


class Citation(NamedTuple):
    """Something that cites sources.

    `where` says what in words. `messages` are the fixed words of the error messages in its value, as quotes; `words`
    are the other words of its value, `patterns` those of its patterns that have fixed letters, and `models` the ways to
    write the name of its model. `is_in_force`: it is a claim that holds on the last day of its profile, with a value
    that is known.
    """

    where: str
    sources: tuple[Source, ...]
    messages: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    is_in_force: bool = False


def of_profile(profile: Profile) -> Iterator[Citation]:
    """Yield the citations of a profile, on all its wires."""
    for each in (profile, *profile.protocols.values()):
        yield from _of_service(each)
        holders = [("", each.claims), *((model.name, model.claims) for model in each.models)]
        for model, histories in holders:
            for name, history in histories.items():
                for claim in history:
                    yield from _of_claim(each, name, model, claim)


def of_rules_and_scenarios() -> Iterator[Citation]:
    """Yield the citations of all rules and scenarios."""
    for rule in rules.load():
        yield Citation(f"rule {rule.id}", (rule.source,))
    for name in scenarios.names():
        source = scenarios.load(name).source
        if source is not None:
            yield Citation(f"scenario {name}", (source,))


def _of_service(profile: Profile) -> Iterator[Citation]:
    named = [("", profile.lifecycle), *((f" of {model.name}", model.lifecycle) for model in profile.models)]
    for about, lifecycle in named:
        for period in lifecycle:
            yield Citation(f"{profile.name}: lifecycle{about}", period.source)


def _of_claim(profile: Profile, name: str, model: str, claim: Claim) -> Iterator[Citation]:
    where = f"{profile.name}: {name}{f' of {model}' if model else ''}"
    is_in_force = claim.holds(profile.as_of) and claim.value not in (UNKNOWN, UPSTREAM)
    yield _citation(where, claim.source, name, claim.value, model)._replace(is_in_force=is_in_force)
    for other in claim.disagrees:
        yield _citation(f"{where}, disagreement", (other.source,), name, other.value, model)


def _citation(where: str, sources: tuple[Source, ...], name: str, value: Any, model: str) -> Citation:
    said = wanted.messages(value), wanted.words(name, value), wanted.model_words(model), wanted.patterns(name, value)
    return Citation(where, sources, *said)
