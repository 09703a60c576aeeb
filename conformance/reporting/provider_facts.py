"""What the page of a provider shows beside its claims: dates, lifecycles of models, and requests to copy."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from conformance.core_facts import DEFINITIONS
from conformance.profiles import Claim, Period, Profile, Source, retired
from conformance.profiles.lifecycle import period_on
from conformance.reporting.bodies import body_lines
from conformance.reporting.second_turns import second_turns
from conformance.reporting.text import code, prose
from conformance.wires import by_name


class Dates(NamedTuple):
    """When facts were read: the first and the last day, and the core fact that was read longest ago.

    `undated` are the claims of core facts whose sources have no date. Days are ISO 8601, empty if there is none.
    """

    newest: str = ""
    oldest: str = ""
    core: str = ""
    core_read: str = ""
    undated: tuple[str, ...] = ()


def dates(claims: Mapping[str, Claim]) -> Dates:
    """Return the dates of some claims, by name; the day of a claim is the last on which one of its sources was read."""
    read = {name: max([source.read or source.searched for source in each.source]) for name, each in claims.items()}
    days = sorted(filter(None, read.values()))
    core = [name for definition in DEFINITIONS for name in definition.claims if name in claims]
    dated = sorted([(read[name], name) for name in core if read[name]])
    oldest_core = dated[0] if dated else ("", "")
    undated = tuple(dict.fromkeys([name for name in core if not read[name]]))
    return Dates(days[-1] if days else "", days[0] if days else "", oldest_core[1], oldest_core[0], undated)


def lifecycle_rows(profile: Profile, cite: Callable[[Source], str]) -> Iterator[Sequence[str]]:
    """Yield the models whose lifecycle is known: what holds, since when and until when, and the sources."""
    for model in sorted(profile.models, key=lambda model: model.name):
        if model.lifecycle:
            status = _status(model.lifecycle, profile.as_of)
            history = "<br>".join([_period(period) for period in model.lifecycle])
            cited = dict.fromkeys([cite(source) for period in model.lifecycle for source in period.source])
            yield [code(model.name), status, history, " ".join(cited)]


def requests(profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield second requests as JSON, each with what it follows; one message stands on one line."""
    for turn in second_turns(profile):
        body = by_name(profile.wire).writing.request(turn.body)
        yield turn.title, "\n".join([line.text for line in body_lines(body)])


def _status(lifecycle: Sequence[Period], day: str) -> str:
    end, period = retired(lifecycle, day), period_on(lifecycle, day)
    if end:
        return f"retired on {end}"
    if period is None:
        return "not served"
    served = f"alias of {code(period.alias_of)}" if period.alias_of else "served"
    return f"{served}, ends on {period.until}" if period.until else served


def _period(period: Period) -> str:
    since, until = f"since {period.since}" if period.since else "", f"until {period.until}" if period.until else ""
    alias = f"as an alias of {code(period.alias_of)}" if period.alias_of else ""
    return " ".join([each for each in (since, until, alias) if each]) + (
        f": {prose(period.note)}" if period.note else ""
    )
