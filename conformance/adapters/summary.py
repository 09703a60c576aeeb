"""Summaries of an adapter's results for reports: by rule, with the cases, the evidence and the fix."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

from conformance.adapters import loop
from conformance.adapters.case import CaseRun
from conformance.baseline import LONGEST, Entry
from conformance.gate import CheckResult
from conformance.results import NOT_PLAYED, Finding, Level, Outcome, Status
from conformance.results.runs import Results
from conformance.rules import advice

GRADES: Final = ("errored", "fails", "untested", "warns", "differs")
"""The grades of a case that is not clean, the worst first; `differs` is a MAY, which clients are free to ignore."""

FAILING: Final = GRADES[:3]
"""The grades with which a client fails."""


def summary(results: Results, runs: Sequence[CaseRun], *, strict: bool) -> dict[str, Any]:
    """Return what reports show about one adapter with one provider, as plain data."""
    played = [run for run in runs if not run.case.note.startswith(NOT_PLAYED)]
    graded = [_grade_of(run.case.outcomes) for run in played]
    return {
        "adapter": results.subject,
        "provider": results.provider,
        "model": results.model,
        "strict": strict,
        "versions": dict(sorted(results.versions.items())),
        "cases": len(runs),
        "played": len(played),
        "wrong_kind": len([run for run in runs if run.wrong_kind and run not in played]),
        "clean": graded.count(""),
        "grades": {grade: graded.count(grade) for grade in GRADES},
        "rules": [_rule(name, grade, found) for (grade, name), found in sorted(_found(played), key=_order)],
        "notes": [{"case": run.case.name, "note": run.case.note} for run in played if run.case.note],
    }


def grade(outcome: Outcome) -> str:
    """Return the grade of an outcome; empty if it passed or does not apply."""
    if outcome.status is Status.FAILED:
        return {Level.MUST: "fails", Level.SHOULD: "warns", Level.MAY: "differs"}[outcome.level]
    return {Status.ERRORED: "errored", Status.UNTESTED: "untested"}.get(outcome.status, "")


def failures_as_entries(
    checked: Sequence[CheckResult], day: str, sources: Mapping[str, str] | None = None
) -> tuple[Entry, ...]:
    """Return an entry of a baseline for each failure, which ends a year after `day` (ISO 8601).

    `sources`: the URL of the source of each check; by default those of the rules and the loop facts. Errors are not
    failures of the adapter and get none.
    """
    known = {name: each.source.link for name, each in loop.with_rules().items()} if sources is None else sources
    until = (date.fromisoformat(day) + timedelta(LONGEST - 1)).isoformat()
    return tuple(
        [
            Entry(each.names[0], f"Failed on {day}: {each.message}", known[each.check], until)
            for each in checked
            if each.is_failure
        ]
    )


def _grade_of(outcomes: Sequence[Outcome]) -> str:
    found = {grade(outcome) for outcome in outcomes}
    return next((name for name in GRADES if name in found), "")


def _found(runs: Sequence[CaseRun]) -> Sequence[tuple[tuple[str, str], list[tuple[CaseRun, Outcome]]]]:
    """Return the outcomes that are not clean, grouped by grade and rule."""
    grouped: dict[tuple[str, str], list[tuple[CaseRun, Outcome]]] = {}
    for run in runs:
        for outcome in run.case.outcomes:
            if grade(outcome):
                grouped.setdefault((grade(outcome), outcome.rule), []).append((run, outcome))
    return list(grouped.items())


def _order(group: tuple[tuple[str, str], Any]) -> tuple[int, str]:
    (name, rule), _ = group
    return GRADES.index(name), rule


def _rule(name: str, graded: str, found: Sequence[tuple[CaseRun, Outcome]]) -> dict[str, Any]:
    doc = loop.with_rules()[name].doc
    findings = [shown for run, outcome in found for shown in _findings(run, outcome)]
    return {
        "rule": name,
        "grade": graded,
        "title": doc.partition("\n")[0],
        "fix": " ".join(advice(doc)[1].split()),
        "cases": [run.case.name for run, _ in found],
        "findings": findings,
        "reasons": list(dict.fromkeys([outcome.reason for _, outcome in found if outcome.reason])),
    }


def _findings(run: CaseRun, outcome: Outcome) -> Iterator[dict[str, Any]]:
    for finding in outcome.findings:
        yield {
            "case": run.case.name,
            "at": finding.at,
            "message": finding.message,
            "level": finding.level.value,
            "side": finding.side,
            "sent": "" if finding.asked else finding.excerpt,
            "refusal": _refusal(finding),
        }


def _refusal(finding: Finding) -> str:
    if finding.refusal is None:
        return ""
    message = f": {finding.refusal.message}" if finding.refusal.message else ""
    return f"{finding.refusal.status}{message}"
