"""On which day releases were published, and which of them a timeline runs.

A registry knows the days. A mirror of npm has those on which it first held a release, and a repository the days of its
tags.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from packaging.version import InvalidVersion, Version

from conformance.errors import Unusable

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def last_of_months(dates: Mapping[str, str], today: date, months: int, every: int = 1) -> tuple[str, ...]:
    """Return the highest version of each month that has a release, the oldest month first; or of each `every` months.

    `dates` has the day (ISO 8601) of each version; those without one are left out. Not the latest of a month: a fix for
    an old major version often comes after a new one.
    """
    current = today.year * 12 + today.month - 1
    of_months: dict[int, list[str]] = {}
    for version, day in dates.items():
        if day:
            published = date.fromisoformat(day)
            back = current - (published.year * 12 + published.month - 1)
            if 0 <= back < months:
                of_months.setdefault(back // every, []).append(version)
    return tuple([max(of_months[back], key=Version) for back in sorted(of_months, reverse=True)])


def last_of_minors(versions: Sequence[str], minors: int, every: int = 1) -> tuple[str, ...]:
    """Return the highest version of each of the newest minor versions, the oldest first; or of each `every` minors."""
    of_minors: dict[tuple[int, ...], list[str]] = {}
    for version in versions:
        of_minors.setdefault(_minor(version), []).append(version)
    newest = sorted(of_minors, reverse=True)[:minors]
    return tuple([max(of_minors[each], key=Version) for each in reversed(newest[::every])])


def plausible(dates: Mapping[str, str]) -> dict[str, str]:
    """Return the days of releases, none of which is later than that of a later release of the same minor version.

    A mirror that fetched an old release late has a day that is too late. At the source itself nothing changes.
    """
    known: dict[tuple[int, ...], str] = {}
    found = dict(dates)
    for version in sorted(dates, key=Version, reverse=True):
        day, minor = dates[version], _minor(version)
        if day:
            found[version] = min(day, known.get(minor, day))
            known[minor] = found[version]
    return found


def of_tags(text: str, package: str) -> dict[str, str]:
    """Return the days of versions in lines of a tag and a day, as git prints them.

    A tag is a version, with or without `v`, behind the package's name where a repository has several. Raises Unusable
    for a line of another form, and if no tag is one of the package.
    """
    named: dict[str, str] = {}
    plain: dict[str, str] = {}
    for number, line in enumerate(filter(None, map(str.strip, text.splitlines())), 1):
        tag, _, day = line.rpartition(" ")
        if not tag or _DAY.fullmatch(day) is None:
            raise Unusable(f"line {number} {line!r:.60}: expected a tag and a day, such as 'v1.2.3 2026-01-31'")
        start = next((each for each in (f"{package}@", f"{package}==", f"{package}-v") if tag.startswith(each)), None)
        version = tag.removeprefix(start or "").removeprefix("v")
        if _is_version(version):
            (plain if start is None else named)[version] = day
    if not (named or plain):
        raise Unusable(f"no line has a tag with a version of {package}")
    return named or plain


def _minor(version: str) -> tuple[int, ...]:
    read = Version(version)
    return (read.epoch, read.major, read.minor)


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True
