"""The report on checked inputs, for people: what each input is, its findings and their places, and a summary."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from conformance import broken_clients
from conformance.formats.inputs import KINDS
from conformance.reporting.text import Paint, line_of, plural, printable
from conformance.wire.views import Side

_COLOURS: Final = {"MUST": "red", "SHOULD": "yellow", "MAY": "cyan"}

_NOTE: Final = 100
"""How many characters of a note are shown again."""
_DIFF_COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}


_STDIN: Final = "/dev/stdin"
_SEVERITIES: Final = tuple(_COLOURS)

_PLACE: Final = re.compile(r"'[^']*\d[^']*'|(?<!\w)/[\w/~.-]+|\d+")
"""What equal findings may differ in: ids, pointers and numbers."""


class FindingLine(NamedTuple):
    """A finding: its line, and those below it. `order` is its rank and severity; equal findings have the same `key`."""

    order: tuple[int, int]
    key: tuple[str, ...]
    text: str
    below: str


class InputPart(NamedTuple):
    """The lines of an input: those that stand where it comes, and its findings, which may stand with those of others.

    `is_live`: it comes from a pipe, and its findings are shown as soon as it has come. `notes`: what follows its head,
    once for all inputs; `below`: the lines that stand under these.
    """

    head: str
    lines: tuple[FindingLine, ...] = ()
    is_live: bool = False
    notes: tuple[str, ...] = ()
    below: str = ""


def part(report: Mapping[str, Any], paint: Paint) -> InputPart:
    """Return the lines of an input.

    One that cannot be read or was skipped is only counted: the error goes to standard error, and a folder may hold any
    number of other files.
    """
    if "error" in report or report["kind"] == "unrecognized":
        return InputPart("")
    lines = [line for outcome in report["outcomes"] for line in _findings(report, outcome, paint)]
    notes = tuple(map(printable, report.get("notes", ())))
    return InputPart(
        _head(report, paint), tuple(lines), report["path"] == _STDIN, notes, "".join(_under_notes(report, paint))
    )


def render_inputs(parts: Iterable[InputPart], summary: Callable[[], Mapping[str, Any]], paint: Paint) -> Iterator[str]:
    """Yield the lines of each input, then the findings by rank, equal ones as one line, then the summary."""
    held: dict[tuple[str, ...], tuple[FindingLine, int]] = {}
    notes: Counter[str] = Counter()
    for each in parts:
        yield each.head
        yield from [f"    {note}\n" for note in each.notes if note not in notes]
        notes.update(each.notes)
        yield each.below
        if each.is_live:
            yield from _ranked(_grouped(each.lines, {}))
        else:
            _grouped(each.lines, held)
    yield from [_repeated(note, count) for note, count in notes.items() if count > 1]
    yield from _ranked(held)
    yield from _summary(summary(), paint)


def _repeated(note: str, count: int) -> str:
    """Return the line that stands for a note on further inputs, of which the first shows all of it."""
    return f"    on {count:,} inputs: {note if len(note) <= _NOTE else f'{note[: _NOTE - 1]}…'}\n"


def _grouped(
    lines: Iterable[FindingLine], held: dict[tuple[str, ...], tuple[FindingLine, int]]
) -> dict[tuple[str, ...], tuple[FindingLine, int]]:
    """Add lines to those that are held, each by its key, with the first of its kind and their number."""
    for line in lines:
        first, count = held.get(line.key, (line, 0))
        held[line.key] = first, count + 1
    return held


def _ranked(held: Mapping[tuple[str, ...], tuple[FindingLine, int]]) -> Iterator[str]:
    for line, count in sorted(held.values(), key=lambda each: each[0].order):
        times = f" ({count:,} ×)" if count > 1 else ""
        yield f"{line.text}{times}\n{line.below}"


def _head(given: Mapping[str, Any], paint: Paint) -> str:
    wire = f" ({given['protocol']})" if given.get("protocol") else ""
    return f"{paint('bold', _place(given))}: {KINDS.get(given['kind'], given['kind'])}{wire}{_provider(given)}\n"


def _under_notes(given: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    for outcome in given["outcomes"]:
        yield from _without_findings(given, outcome, paint)
    yield from _diff(given.get("diff", ""), paint)


def _diff(text: str, paint: Paint) -> Iterator[str]:
    """Yield the lines of a diff, as other tools colour them."""
    for line in text.splitlines():
        colour = "bold" if line.startswith(("---", "+++")) else _DIFF_COLOURS.get(line[:1], "")
        shown = printable(line)
        yield (paint(colour, shown) if colour else shown) + "\n"


def _provider(given: Mapping[str, Any]) -> str:
    """Return which provider an input was checked against, and how it was recognised."""
    if not given["provider"]:
        return ""
    recognised = given.get("recognised")
    if recognised is None:
        return f", checked against {given['provider']}"
    both = "; by what both share" if len(recognised["providers"]) > 1 else ""
    how = f"{recognised['by']}{both}; --provider none checks the canonical wire alone"
    return f", checked against {given['provider']}, {how}"


def _place(given: Mapping[str, Any], pointer: str = "") -> str:
    """Return path and line of an input, or of the exchange in it that a pointer points to."""
    line = line_of(given, pointer)
    return printable(given["path"] if line is None else f"{given['path']}:{line}")


def _findings(given: Mapping[str, Any], outcome: Mapping[str, Any], paint: Paint) -> Iterator[FindingLine]:
    """Yield the findings of an outcome, and what claims describe."""
    for finding in (*outcome["findings"], *outcome.get("known", ())):
        level, known = finding["level"], finding.get("known", "")
        severity = f"known by {known}" if known else paint(_COLOURS[level], level)
        check = f"{outcome['rule']} {severity} ({finding['side']})"
        at, message = printable(finding["at"] or "(root)"), printable(finding["message"])
        below = "".join(_below(given, finding, outcome["rule"]))
        # What claims describe comes last.
        order = finding["rank"] + (len(_SEVERITIES) if known else 0), _SEVERITIES.index(level)
        key = check, _PLACE.sub("#", finding["message"]), _PLACE.sub("#", below)
        yield FindingLine(order, key, f"{_place(given, finding['at'])}: {check} at {at}: {message}", below)


def _below(given: Mapping[str, Any], finding: Mapping[str, Any], rule: str) -> Iterator[str]:
    if finding["side"] == Side.PROVIDER and (broken := broken_clients.of_rule(rule)):
        yield f"    breaks: {broken.text}\n"
    if "refusal" in finding:
        yield f"    {given['provider']} answers {printable(_answer(finding['refusal']))}\n"
    for host in finding.get("hosts", ()):
        yield f"    {host['provider']} answers {printable(_answer(host))}\n"
    if "contested" in finding:
        yield f"    sources disagree: {printable(finding['contested'])}\n"
    if "needs" in finding:
        yield f"    no fix: it needs {printable(finding['needs'])}\n"


def _without_findings(given: Mapping[str, Any], outcome: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    rule, status = outcome["rule"], outcome["status"]
    if not outcome["findings"] and not outcome.get("known"):
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
    if counts.get("unrecognised"):
        of = f" of {plural(counts['unrecognised'], 'input')}" if counts["inputs"] > 1 else ""
        yield f"no provider recognised{of}; name one with --provider, such as --provider deepseek\n"
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
    for provider, known in counts["known"].items():
        each = ", ".join([f"{one['count']:,} × {one['claim']} ({one['rule']})" for one in known])
        yield f"known of {printable(provider)}: {each}; --known shows them\n"
    if counts["hidden"]:
        yield f"{plural(counts['hidden'], 'finding')} below the requested level, not shown\n"
    if counts["errored"]:
        times = plural(counts["errored"], "time")
        yield paint("red", f"{times} a rule failed to run, which is a bug in this program") + "\n"
