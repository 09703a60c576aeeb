"""Timelines: which rules the releases of an adapter break, and since when."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final

from packaging.version import Version

from conformance.adapters.summary import GRADES, grade
from conformance.results import Status
from conformance.results.runs import Results

BROKEN: Final = ("fails", "warns")
"""The grades with which a release breaks a rule; a MAY, which clients are free to ignore, is left out."""

KEEPS: Final = "keeps"


def last_of_months(dates: Mapping[str, str], today: date, months: int) -> tuple[str, ...]:
    """Return the highest version of each month that has a release, the oldest month first.

    `dates` has the day (ISO 8601) of each version; those without one are left out. Not the latest of a month: a fix for
    an old major version often comes after a new one.
    """
    current = today.year * 12 + today.month - 1
    of_months: dict[int, list[str]] = {}
    for version, day in dates.items():
        if day:
            published = date.fromisoformat(day)
            of_months.setdefault(published.year * 12 + published.month - 1, []).append(version)
    chosen = [month for month in sorted(of_months) if current - months < month <= current]
    return tuple([max(of_months[month], key=Version) for month in chosen])


def report(tried: Mapping[str, tuple[str, Results | str]]) -> dict[str, Any]:
    """Return what a timeline shows: by version its day and why it was skipped, by broken rule a grade per version.

    `tried` has by version, the oldest first, its day and its results, or why it was skipped.
    """
    graded = {version: _grades(found) for version, (_, found) in tried.items() if isinstance(found, Results)}
    names = sorted({rule for grades in graded.values() for rule, found in grades.items() if found in BROKEN})
    rows = {rule: {version: grades.get(rule, "") for version, grades in graded.items()} for rule in names}
    return {
        "releases": [
            {"version": version, "date": day, "skipped": found if isinstance(found, str) else _error(found)}
            for version, (day, found) in tried.items()
        ],
        "rules": [{"rule": rule, "grades": row, "spans": list(_spans(row))} for rule, row in rows.items()],
    }


def _grades(results: Results) -> dict[str, str]:
    """Return the grade of each rule in the results of a release: its worst, else that it was kept."""
    found: dict[str, set[str]] = {}
    for outcome in [each for case in results.cases for each in case.outcomes]:
        if outcome.status is not Status.NOT_APPLICABLE:
            found.setdefault(outcome.rule, set()).add(grade(outcome))
    return {rule: next((each for each in GRADES if each in grades), KEEPS) for rule, grades in found.items()}


def _error(results: Results) -> str:
    """Return why a driver failed if it failed in every case, which says nothing about the release."""
    errors = [each.reason for case in results.cases for each in case.outcomes if each.status is Status.ERRORED]
    others = [each for case in results.cases for each in case.outcomes if each.status is not Status.ERRORED]
    return f"the driver failed: {errors[0]}" if errors and not others else ""


def _spans(row: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield each run of releases that break a rule: its first, and the one that fixed it; empty if none is known.

    Releases that show nothing about the rule neither begin nor end one. `before` is the last that kept the rule.
    """
    shown: Sequence[tuple[str, bool]] = [
        (version, each in BROKEN) for version, each in row.items() if each in (*BROKEN, KEEPS)
    ]
    since = before = ""
    for version, is_broken in shown:
        if is_broken and not since:
            since = version
        elif not is_broken:
            if since:
                yield {"since": since, "before": before, "fixed": version}
            since, before = "", version
    if since:
        yield {"since": since, "before": before, "fixed": ""}
