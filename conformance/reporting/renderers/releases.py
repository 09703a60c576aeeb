"""What a bisection and a timeline of releases look like, for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.adapters.timeline import span_text
from conformance.reporting.text import plural, printable, shorten

_MARKS: Final = {"fails": "F", "warns": "w", "keeps": ".", "differs": ".", "untested": "?", "errored": "E", "": "-"}
_LEGEND: Final = "F breaks a MUST, w breaks a SHOULD, . keeps it, - does not apply, ? untested, E the driver failed"
_WIDTH: Final = 160
_MAX_CASES: Final = 4


def trial(release: Mapping[str, Any], rule: str) -> str:
    """Return the line about a release that was tried."""
    named = _dated(release["version"], release["date"])
    cases = release["cases"]
    if cases:
        more = f" and {len(cases) - _MAX_CASES} more" if len(cases) > _MAX_CASES else ""
        return printable(f"{named} breaks {rule} in {', '.join(cases[:_MAX_CASES])}{more}")
    why = f": {release['why']}" if release["why"] else ""
    return printable(shorten(f"{named} {_words(release['verdict'], rule)}{why}", _WIDTH))


def bisection(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the answer of a bisection line by line."""
    releases = report["releases"]
    skipped = sum(1 for each in releases if each["verdict"] == "skipped")
    yield f"\n{report['adapter']} ({report['package']}) with {report['provider']}, {report['rule']}:\n"
    bad = [each["version"] for each in releases if each["verdict"] == "breaks"]
    if not bad:
        yield "not found: no release that was tried breaks the rule; name one with --bad\n"
    else:
        for title, key in (("first bad release", "first_bad"), ("first fixed release", "first_fixed")):
            # With a good release, the range has one of the two.
            if report[key] is not None or not report["good"]:
                yield from _edge(title, report[key])
        if not report["good"] and report["first_bad"] is None:
            yield f"the oldest release that was seen to break it: {bad[0]}\n"
        if not report["good"] and report["first_fixed"] is None:
            yield f"the newest release that was seen to break it: {bad[-1]}\n"
    yield f"{plural(len(releases), 'release')} tried, {skipped} skipped; scenarios: {', '.join(report['scenarios'])}\n"


def timeline(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of the rules that some release breaks, then what it says in a line for each rule."""
    releases, rules = report["releases"], report["rules"]
    yield f"{report['adapter']} ({report['package']}) with {report['provider']}\n\n"
    run = [each for each in releases if not each["skipped"]]
    width = max([len(rule["rule"]) for rule in rules], default=0)
    columns = [max(len(each["version"]), len("2026-11")) for each in run]
    if rules:
        yield _row("", [each["date"][:7] for each in run], width, columns)
        yield _row("", [each["version"] for each in run], width, columns)
    for rule in rules:
        marks = [_MARKS[rule["grades"].get(each["version"], "")] for each in run]
        yield _row(rule["rule"], marks, width, columns)
    yield f"\n{_LEGEND}\n\n" if rules else "no release that was run breaks a rule\n"
    dates = {each["version"]: each["date"] for each in releases}
    for rule in rules:
        yield f"{rule['rule']}: {'; '.join([span_text(span, dates) for span in rule['spans']])}\n"
    for each in releases:
        if each["skipped"]:
            yield printable(f"{_dated(each['version'], each['date'])} was skipped: {each['skipped']}") + "\n"


def _row(title: str, cells: Sequence[str], width: int, columns: Sequence[int]) -> str:
    shown = [f"{cell:>{column}}" for cell, column in zip(cells, columns, strict=True)]
    return "  ".join([f"{title:{width}}", *shown]).rstrip() + "\n"


def _edge(title: str, edge: Mapping[str, Any] | None) -> Iterator[str]:
    if edge is None:
        yield f"{title}: not found within the range\n"
        return
    between = f"; not judged between them: {', '.join(edge['not_judged'])}" if edge["not_judged"] else ""
    yield f"{title}: {_dated(edge['version'], edge['date'])}, after {edge['after']}{between}\n"


def _dated(version: str, day: str) -> str:
    return f"{version} ({day})" if day else version


def _words(verdict: str, rule: str) -> str:
    return f"keeps {rule}" if verdict == "keeps" else "is skipped"
