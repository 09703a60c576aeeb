"""The report of a calibration, for people: a table of the providers, details of each, then the failures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.reporting.text import Paint, printable, shorten

_COLUMNS: Final[Mapping[str, Callable[[Mapping[str, Any]], int]]] = {
    "\nexchanges": lambda row: row["recordings"],
    "\naccepted": lambda row: row["requests"].get("accepted", 0),
    "\nrefused": lambda row: row["requests"].get("refused", 0),
    "false\npositives": lambda row: row["requests"].get("falsely refused", 0),
    "false\nnegatives": lambda row: (
        row["requests"].get("refusal missed", 0) + row["requests"].get("refused in other words", 0)
    ),
    "out of\nscope": lambda row: row["requests"].get("out of scope", 0),
    "\nincomplete": lambda row: row["requests"].get("incomplete", 0),
    "entries\nconfirmed": lambda row: sum(1 for each in row["claims"] if _count(each, "confirmed")),
    "\ncontradicted": lambda row: sum(1 for each in row["claims"] if _count(each, "contradicted")),
    "by an\nengine": lambda row: sum(1 for each in row["claims"] if each.get("engine")),
    "not\nobserved": lambda row: len(row["unseen"]),
    "not\nread": lambda row: len(row["unread"]),
}
_LEGEND: Final = """\
Requests. accepted, refused: as predicted; refused with the same status and text. false positives: a refusal was
predicted, but the request was accepted. false negatives: refused, but no refusal or another text was predicted. out of
scope: refused for a reason other than the wire. incomplete: the request or the answer was not recorded.
Entries of the profile: a value of a claim, for some models and a time. confirmed: recordings show that very value.
contradicted: they break it. by an engine: a real server with a scripted model shows the value. not observed: claims
that no recording shows. not read: no rule reads them either.
"""
_HEADINGS: Final = {
    "confirmed": "confirmed",
    "contradicted": "contradicted",
    "contradicted by an artefact of a fixture": "artefacts",
    "another value in": "otherwise",
    "answered without an error, which does not show the value": "answered",
    "confirmed by an engine": "engine",
}
"""What recordings show about an entry, by heading."""

_WIDTH: Final = 118
_MAX_MESSAGE: Final = 400


def render(calibration: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    """Yield the report line by line."""
    yield from _table(calibration["providers"], paint)
    if calibration["without_profile"]:
        named = ", ".join(f"{name} {count}" for name, count in calibration["without_profile"].items())
        yield f"\nwithout profile: {printable(named)}\n"
    yield f"\n{_LEGEND}"
    for row in calibration["providers"]:
        yield from _provider(row, paint)
    yield from _failures(calibration, paint)


def _table(rows: Sequence[Mapping[str, Any]], paint: Paint) -> Iterator[str]:
    # Imported here because listing the report formats loads this module as well.
    from tabulate import tabulate

    cells = [[row["provider"], *(str(count(row)) for count in _COLUMNS.values())] for row in rows]
    cells.append(["all", *(str(sum(count(row) for row in rows)) for count in _COLUMNS.values())])
    alignment = ("left", *("right" for _ in _COLUMNS))
    headings = ["\nprovider", *_COLUMNS]
    table = tabulate(cells, headers=headings, tablefmt="plain", colalign=alignment, disable_numparse=True)
    for number, line in enumerate(table.splitlines()):
        yield f"{paint('bold', line.rstrip()) if number < 2 else line.rstrip()}\n"


def _provider(row: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    yield f"\n{paint('bold', row['provider'])}\n"
    for heading, kind in _HEADINGS.items():
        yield from _wrapped(heading, [_named(each, kind) for each in row["claims"] if _count(each, kind)])
    if row["simulated"]:
        yield f"  not counted: {row['simulated']} exchanges with the simulator\n"
    yield from _wrapped("not observed", row["unseen"])
    yield from _wrapped("not read by any rule", row["unread"])
    yield from _wrapped("refused for a reason other than the wire", _counts(row["out_of_scope"]))
    yield from _wrapped("departs from the canonical wire without a claim", _counts(row["departures"]))


def _count(entry: Mapping[str, Any], kind: str) -> int:
    """Return how many exchanges show something about an entry in one way; those with engines are only counted."""
    found = entry.get(kind, ())
    return found if isinstance(found, int) else len(found)


def _named(entry: Mapping[str, Any], kind: str) -> str:
    about = ", ".join(each for each in (entry["model"], entry.get("since", "")) if each)
    return f"{entry['claim']}{f' ({about})' if about else ''} {_count(entry, kind)}"


def _counts(counted: Mapping[str, int]) -> list[str]:
    return [f"{name} {count}" for name, count in counted.items()]


def _wrapped(heading: str, items: Sequence[str]) -> Iterator[str]:
    """Yield a list under its heading, with line breaks only between items."""
    if not items:
        return
    line = f"  {heading}:"
    for number, item in enumerate(items):
        text = f" {item}," if number + 1 < len(items) else f" {item}"
        if len(line) + len(text) > _WIDTH:
            yield f"{line}\n"
            line = "   "
        line += text
    yield f"{line}\n"


def _failures(calibration: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    for failure in calibration["failures"]:
        kind = paint("red", failure["kind"])
        message = shorten(printable(failure["message"]), _MAX_MESSAGE)
        yield f"\n{_location(failure)}: {kind}{_origin(failure)}\n    {message}\n"
        yield f"    recording {failure['recording']} of {failure['provider']}\n"
    for failure in calibration["expected"]:
        kind = paint("yellow", f"{failure['kind']}, as expected")
        yield f"\n{_location(failure)}: {kind}{_origin(failure)}\n    {printable(failure['reason'])}\n"
    for failure in calibration["artefacts"]:
        kind = paint("yellow", f"{failure['kind']}, by an artefact")
        yield f"\n{_location(failure)}: {kind}{_origin(failure)}\n    {printable(failure['reason'])}\n"
    count, expected = len(calibration["failures"]), len(calibration["expected"])
    unexpected = paint("red", f"{count} unexpected") if count else paint("green", "nothing unexpected")
    yield f"\n{unexpected}{f', {expected} expected' if expected else ''}{_artefacts(calibration)}\n"


def _artefacts(calibration: Mapping[str, Any]) -> str:
    count = len(calibration["artefacts"])
    return f", {count} by artefacts of fixtures" if count else ""


def _location(failure: Mapping[str, Any]) -> str:
    at = f" at {failure['at']}" if failure["at"] else ""
    return printable(f"{failure['ref']}{at}")


def _origin(failure: Mapping[str, Any]) -> str:
    """Return the claims and the rule behind a failure, as far as known."""
    claims = f" {', '.join(failure['claims'])}" if failure["claims"] else ""
    return f"{claims} (by {failure['rule']})" if failure["rule"] else claims
