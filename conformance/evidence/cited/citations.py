"""Everything that cites sources: claims and lifecycles of profiles, rules, and scenarios."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from conformance import rules, scenarios
from conformance.profiles import Claim, Profile, Source


class Citation(NamedTuple):
    """Something that cites sources.

    `where` says what in words. `messages` are templates of the error messages that it quotes, with placeholders in
    braces.
    """

    where: str
    sources: tuple[Source, ...]
    messages: tuple[str, ...] = ()


def of_profile(profile: Profile) -> Iterator[Citation]:
    """Yield the citations of a profile."""
    yield from _of_service(profile)
    holders = [("", profile.claims), *((f" of {model.name}", model.claims) for model in profile.models)]
    for about, histories in holders:
        for name, history in histories.items():
            for claim in history:
                yield from _of_claim(f"{profile.name}: {name}{about}", claim)


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


def _of_claim(where: str, claim: Claim) -> Iterator[Citation]:
    yield Citation(where, claim.source, tuple(_messages(claim.value)))
    for other in claim.disagrees:
        yield Citation(f"{where}, disagreement", (other.source,), tuple(_messages(other.value)))


def _messages(value: Any) -> Iterator[str]:
    """Yield the templates of error messages in the value of a claim, which may be nested."""
    below: Iterable[Any] = value if isinstance(value, list) else ()
    if isinstance(value, Mapping):
        if isinstance(value.get("message"), str) and "status" in value:
            yield value["message"]
        below = value.values()
    for each in below:
        yield from _messages(each)
