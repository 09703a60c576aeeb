"""What changed: on the wire of providers, by the dates of their claims, and in the results since an earlier run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from conformance.profiles import UNKNOWN, Claim, Lifecycle, Period, Profile
from conformance.reporting.matrix import brief
from conformance.reporting.text import shorten
from conformance.wire.native import CHAT

MONTHS_BACK: Final = 12
"""How many months before the newest one are listed."""

_WIDTH: Final = 70
_NEW: Final = "not claimed before"


@dataclass(frozen=True, slots=True)
class DatedChange:
    """One dated change of one provider: `day` is a prefix of an ISO 8601 day.

    `what` is a claim's name or a model; `before` and `after` are values in words.
    """

    day: str
    provider: str
    what: str
    model: str
    before: str
    after: str


def newest_day(profiles: Mapping[str, Profile]) -> str:
    """Return the last day on which a source of any profile was read."""
    return max([profile.as_of for profile in profiles.values()], default="")


def changes(profiles: Mapping[str, Profile]) -> tuple[DatedChange, ...]:
    """Return the changes of the last months up to the newest day, the newest first."""
    newest = newest_day(profiles)
    first = _months_before(newest, MONTHS_BACK)
    found = [each for name in sorted(profiles) for each in _own_changes(profiles[name], profiles)]
    recent = [each for each in found if first <= each.day <= newest]
    by_name = sorted(recent, key=lambda each: (each.provider, each.model, each.what))
    return tuple(sorted(by_name, key=lambda each: each.day, reverse=True))


def _months_before(day: str, months: int) -> str:
    if len(day) < len("2026-11"):
        return day
    year, month = divmod(int(day[:4]) * 12 + int(day[5:7]) - 1 - months, 12)
    return f"{year:04}-{month + 1:02}"


def _own_changes(profile: Profile, profiles: Mapping[str, Profile]) -> Iterator[DatedChange]:
    """Yield the changes of a profile; of another wire's, without what is listed for chat completions already."""
    shared = profiles.get(profile.service, profile) if profile.wire != CHAT else profile
    known = {replace(each, provider=profile.name) for each in _of_profile(shared)} if shared is not profile else set()
    yield from (each for each in _of_profile(profile) if each not in known)


def _of_profile(profile: Profile) -> Iterator[DatedChange]:
    sections = [("", profile.claims), *[(model.name, model.claims) for model in profile.models]]
    for model, claims in sections:
        for history in claims.values():
            yield from _of_claim(profile.name, model, history)
    for each in profile.models:
        yield from _of_lifecycle(profile.name, each.name, each.lifecycle)


def _of_lifecycle(provider: str, model: str, lifecycle: Lifecycle) -> Iterator[DatedChange]:
    """Yield when a model was first served, became an alias, and was retired; a period may follow on the next."""
    begins = {period.since: period for period in lifecycle if period.since}
    ends = {period.until: period for period in lifecycle if period.until}
    for day in sorted({*begins, *ends}):
        before = _served(ends[day]) if day in ends else ""
        after = _served(begins[day]) if day in begins else "retired"
        yield DatedChange(day, provider, "model", model, before, after)


def _served(period: Period) -> str:
    return f"alias of {period.alias_of}" if period.alias_of else "served"


def _of_claim(provider: str, model: str, history: Sequence[Claim]) -> Iterator[DatedChange]:
    """Yield the changes between the values of one claim; without an earlier value, what holds since a day."""
    if history and history[0].since:
        yield DatedChange(history[0].since, provider, history[0].name, model, _NEW, _value(history[0]))
    for old, new in pairwise(history):
        day = new.since or old.until
        if day and _value(old) != _value(new):
            yield DatedChange(day, provider, new.name, model, _value(old), _value(new))
    if history and history[-1].until and history[-1].value != UNKNOWN:
        yield DatedChange(
            history[-1].until, provider, history[-1].name, model, _value(history[-1]), "no longer claimed"
        )


def _value(claim: Claim) -> str:
    return shorten(" ".join(brief(claim.value).split()), _WIDTH) or "nothing"
