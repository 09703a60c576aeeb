"""When a provider serves a model by a name, and which model answers to it."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from conformance.profiles.sources import Source

FOREVER: Final = "9999"
"""A day after every other one."""


class Period(NamedTuple):
    """A time in which a provider serves a model by a name.

    `since` is its first day, `until` the first day on which the name is no longer served: prefixes of ISO 8601 days,
    empty if unknown or open. `alias_of` names the model that answers to the name; empty if it is a model of its own.
    """

    since: str = ""
    until: str = ""
    alias_of: str = ""
    source: tuple[Source, ...] = ()
    note: str = ""

    def holds(self, day: str) -> bool:
        """Return True if a day is in the period."""
        return self.since <= day and (not self.until or day < self.until)


Lifecycle = tuple[Period, ...]
"""The periods of a name in the order of their dates; empty if nothing is known, which means that it is served."""


def period_on(lifecycle: Sequence[Period], day: str) -> Period | None:
    """Return the period that holds on a day; None if there is none."""
    # The latest that holds: an earlier one with an open end reaches into it.
    return next((period for period in reversed(lifecycle) if period.holds(day)), None)


def is_served(lifecycle: Sequence[Period], day: str) -> bool:
    """Return True if a name with this lifecycle is served on a day."""
    return not lifecycle or period_on(lifecycle, day) is not None


def retired(lifecycle: Sequence[Period], day: str) -> str:
    """Return the first day on which a name was no longer served for good; empty if that day has not come."""
    # Earlier ends do not count, because a name may have come back.
    last = lifecycle[-1].until if lifecycle else ""
    return last if last and last <= day else ""
