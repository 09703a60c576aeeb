"""The JSON objects of a report about files."""

import os
from collections.abc import Sequence
from typing import Any

from conformance.formats import Input
from conformance.formats.inputs import pointer_lines
from conformance.profiles import Profile
from conformance.results import Finding


def finding_object(finding: Finding) -> dict[str, Any]:
    """Return the JSON object of a finding in a report.

    `rank`: 1 if it stops the loop of an agent, 2 if it loses content, 3 if it is form. `contested`: what sources say
    that disagree. `known`: the claim that describes it.
    """
    about = {"contested": finding.contested, "known": finding.known}
    return finding.to_json() | {"rank": finding.harm.rank} | {name: text for name, text in about.items() if text}


def add_lines(given: Input, outcomes: list[dict[str, Any]]) -> None:
    """Add the `line` of each finding, where it can be determined."""
    findings = [finding for outcome in outcomes for finding in (*outcome["findings"], *outcome.get("known", ()))]
    found = pointer_lines(given, {finding["at"] for finding in findings})
    for finding in findings:
        if finding["at"] in found:
            finding["line"] = found[finding["at"]]


def input_object(
    given: Input, profile: Profile | None, days: Sequence[str], notes: Sequence[str], outcomes: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the JSON object of an input; it has `as_of`, `lines` and `notes` only if they are not empty."""
    report: dict[str, Any] = {"path": encodable(given.path), "line": given.line, "kind": given.kind}
    report |= {"provider": None if profile is None else profile.name, "outcomes": outcomes}
    if days:
        report["as_of"] = interval(days)
    if len(given.lines) > 1:
        report["lines"] = list(given.lines)
    if given.notes or notes:
        report["notes"] = [*given.notes, *notes]
    return report


def encodable(name: str) -> str:
    """Return a file name that any encoding of Unicode can express; bytes that are not UTF-8 are escaped."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "backslashreplace")


def interval(days: Sequence[str]) -> str:
    """Return sorted days as ISO 8601: one day, or an interval."""
    return days[0] if days[0] == days[-1] else f"{days[0]}/{days[-1]}"
