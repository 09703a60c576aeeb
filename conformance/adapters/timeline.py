"""Timelines: which rules the releases of an adapter break, and since when.

`adapter timeline --write DIR` keeps one in a file, which `stored` reads for the reports.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from conformance.adapters.summary import GRADES, grade
from conformance.artifacts import write
from conformance.errors import Unusable
from conformance.results import Status
from conformance.results.runs import Results

BROKEN: Final = ("fails", "warns")
"""The grades with which a release breaks a rule; a MAY, which clients are free to ignore, is left out."""

KEEPS: Final = "keeps"

FOLDER: Final = "timelines"
"""The folder of the timelines in the reports."""

_MEMBERS: Final = ("adapter", "package", "provider", "date", "scenarios", "releases", "rules")


@dataclass(frozen=True, slots=True)
class Timeline:
    """The releases of an adapter with a provider, the oldest first, and the rules that one of them breaks.

    `date`: the day on which it was made. `scenarios`: those that were run, all if it is empty. A release has `version`,
    `date` and `skipped`, the reason why it shows nothing. A rule has `rule`, `grades` by version (`fails`, `warns`,
    `keeps` …) and `spans`: each run of releases that break it, with `since`, `before` and `fixed`, which are empty if
    they are not known.
    """

    adapter: str
    package: str
    provider: str
    date: str
    scenarios: tuple[str, ...]
    releases: tuple[Mapping[str, Any], ...]
    rules: tuple[Mapping[str, Any], ...]

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield each broken rule with a text such as `broken since 1.0 (2026-01-05) or earlier, not fixed`."""
        dates = {each["version"]: each["date"] for each in self.releases}
        for rule in self.rules:
            yield rule["rule"], "; ".join([span_text(span, dates) for span in rule["spans"]])

    def broken(self, rule: str) -> tuple[Mapping[str, str], ...]:
        """Return the runs of releases that break a rule."""
        return next((tuple(each["spans"]) for each in self.rules if each["rule"] == rule), ())


def stored(folder: Path) -> tuple[Timeline, ...]:
    """Return the timelines in a folder, sorted by adapter and provider; none if there is no such folder."""
    return tuple([_read(path) for path in sorted(folder.glob("*.json"))])


def _read(path: Path) -> Timeline:
    document: Any = orjson.loads(path.read_bytes())
    missing = [key for key in _MEMBERS if not isinstance(document, dict) or key not in document]
    if missing:
        raise Unusable(f"{path} is not a timeline, it lacks {', '.join(missing)}; write it with `adapter timeline`")
    known: dict[str, Any] = {key: document[key] for key in _MEMBERS[:4]}
    return Timeline(**known | {key: tuple(document[key]) for key in _MEMBERS[4:]})


def keep(folder: Path, report: Mapping[str, Any]) -> Path:
    """Write a timeline as reports read it; a line for each release and each rule, so that changes are readable."""
    texts = [f"{_json(key)}: {_json(report[key])}" for key in _MEMBERS[:5]]
    listed = {key: ",\n".join(map(_json, report[key])) for key in _MEMBERS[5:]}
    rows = [f"{_json(key)}: [\n{lines}\n]" for key, lines in listed.items()]
    path = folder / f"{report['adapter']}.{report['provider']}.json"
    folder.mkdir(parents=True, exist_ok=True)
    write(path, "{" + ",\n".join([*texts, *rows]) + "}\n")
    return path


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def span_text(span: Mapping[str, str], dates: Mapping[str, str]) -> str:
    """Return since when a rule is broken and when it was fixed; `dates` has the day of each version."""

    def dated(version: str) -> str:
        return f"{version} ({dates[version]})" if dates[version] else version

    since = f"broken since {dated(span['since'])}"
    start = f"{since}, kept in {span['before']}" if span["before"] else f"{since} or earlier"
    # Releases between the last broken one and this were not run.
    return f"{start}, fixed in {dated(span['fixed'])} or earlier" if span["fixed"] else f"{start}, not fixed"


def report(tried: Mapping[str, tuple[str, Results | str]]) -> dict[str, Any]:
    """Return what a timeline shows: by version its day and why it was skipped, by broken rule a grade per version.

    `tried` has by version, the oldest first, its day and its results, or why it was skipped.
    """
    graded = {version: grades_of(found) for version, (_, found) in tried.items() if isinstance(found, Results)}
    names = sorted({rule for grades in graded.values() for rule, found in grades.items() if found in BROKEN})
    rows = {rule: {version: grades.get(rule, "") for version, grades in graded.items()} for rule in names}
    return {
        "releases": [
            {"version": version, "date": day, "skipped": found if isinstance(found, str) else _error(found)}
            for version, (day, found) in tried.items()
        ],
        "rules": [{"rule": rule, "grades": row, "spans": list(_spans(row))} for rule, row in rows.items()],
    }


def grades_of(results: Results) -> dict[str, str]:
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
