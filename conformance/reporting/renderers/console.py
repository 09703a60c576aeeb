"""The report on checked inputs, for people: what each input is, its findings and their places, and a summary."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.formats.inputs import KINDS
from conformance.reporting.text import Paint, line_of, plural, printable

_COLOURS: Final = {"MUST": "red", "SHOULD": "yellow", "MAY": "cyan"}


def part(report: Mapping[str, Any], paint: Paint) -> str:
    """Return the lines of an input.

    One that cannot be read or was skipped is only counted: the error goes to standard error, and a folder may hold any
    number of other files.
    """
    return "" if "error" in report or report["kind"] == "unrecognized" else "".join(_input(report, paint))


def render_inputs(parts: Iterable[str], summary: Callable[[], Mapping[str, Any]], paint: Paint) -> Iterator[str]:
    """Yield the lines of each input, then the summary."""
    yield from parts
    yield from _summary(summary(), paint)


def _input(given: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    provider = f", checked against {given['provider']}" if given["provider"] else ""
    yield f"{paint('bold', _place(given))}: {KINDS.get(given['kind'], given['kind'])}{provider}\n"
    for note in given.get("notes", ()):
        yield f"    {printable(note)}\n"
    for outcome in given["outcomes"]:
        yield from _outcome(given, outcome, paint)


def _place(given: Mapping[str, Any], pointer: str = "") -> str:
    """Return path and line of an input, or of the exchange in it that a pointer points to."""
    line = line_of(given, pointer)
    return printable(given["path"] if line is None else f"{given['path']}:{line}")


def _outcome(given: Mapping[str, Any], outcome: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    rule, status = outcome["rule"], outcome["status"]
    for finding in outcome["findings"]:
        where, level = _place(given, finding["at"]), paint(_COLOURS[finding["level"]], finding["level"])
        check = f"{rule} {level} ({finding['side']})"
        yield f"{where}: {check} at {printable(finding['at'] or '(root)')}: {printable(finding['message'])}\n"
        if "refusal" in finding:
            yield f"    {given['provider']} answers {printable(_answer(finding['refusal']))}\n"
    if not outcome["findings"]:
        where = _place(given)
        reason = f": {printable(outcome['reason'])}" if outcome.get("reason") else ""
        judged = f" ({outcome['judged']} checked)" if outcome["judged"] else ""
        yield f"{where}: {rule} {paint('red', status) if status == 'errored' else status}{judged}{reason}\n"


def _answer(refusal: Mapping[str, Any]) -> str:
    message = f": {refusal['message']}" if "message" in refusal else ""
    return f"{refusal['status']}{message}"


def _summary(counts: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    unreadable = f", {counts['unreadable']} unreadable" if counts["unreadable"] else ""
    unreadable += f", {counts['skipped']} skipped" if counts["skipped"] else ""
    applied = f"{counts['judged']} of {counts['rules']} rules applied"
    yield f"\n{plural(counts['inputs'], 'input')}{unreadable}; {plural(counts['exchanges'], 'exchange')}; {applied}\n"
    if counts["as_of"]:
        days = ", ".join([f"{name} as of {day.replace('/', ' to ')}" for name, day in counts["as_of"].items()])
        yield f"checked by the claims of {printable(days)}\n"
    findings, sides = counts["findings"], counts["sides"]
    if any(findings.values()):
        levels = ", ".join(paint(_COLOURS[name], f"{count} {name}") for name, count in findings.items() if count)
        by_side = ", ".join(f"{count} on the {name} side" for name, count in sides.items() if count)
        yield f"findings: {levels}; {by_side}\n"
    else:
        yield (paint("green", "no findings") if counts["exchanges"] else "nothing was checked") + "\n"
    if counts["hidden"]:
        yield f"{plural(counts['hidden'], 'finding')} below the requested level, not shown\n"
    if counts["errored"]:
        times = plural(counts["errored"], "time")
        yield paint("red", f"{times} a rule failed to run, which is a bug in this program") + "\n"
