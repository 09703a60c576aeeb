"""Report of a calibration for people: a table of the providers, then what was found wrong, then what else was seen."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.reporting.text import printable

_HEADINGS: Final[Mapping[str, Callable[[Mapping[str, Any]], int]]] = {
    "exchanges": lambda row: row["recordings"],
    "accepted": lambda row: row["requests"].get("accepted", 0),
    "refused": lambda row: row["requests"].get("refused", 0),
    "false": lambda row: row["requests"].get("falsely refused", 0),
    "missed": lambda row: row["requests"].get("refusal missed", 0) + row["requests"].get("refused in other words", 0),
    "apart": lambda row: row["requests"].get("apart", 0),
    "unplayed": lambda row: row["requests"].get("unplayed", 0),
    "confirmed": lambda row: sum(1 for each in row["claims"].values() if not each["contradicted"]),
    "contradicted": lambda row: sum(1 for each in row["claims"].values() if each["contradicted"]),
    "unseen": lambda row: len(row["unseen"]),
    "unread": lambda row: len(row["unread"]),
}
_LEGEND: Final = """\
accepted, refused: requests, as in reality; refused with the same status and text. false: refused here, accepted in
reality. missed: refused in reality, not here, or not in these words. apart: refused for a cause that is not the wire.
unplayed: request or answer was not kept. confirmed, contradicted, unseen: claims of the profile;
unread: those that no rule goes by, so that nothing can put them to the test.
"""
_WIDTH: Final = 118
_SHOWN: Final = 400

Paint = Callable[[str, str], str]


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
    cells = [[row["provider"], *(str(count(row)) for count in _HEADINGS.values())] for row in rows]
    cells.append(["all", *(str(sum(count(row) for row in rows)) for count in _HEADINGS.values())])
    headings = ["provider", *_HEADINGS]
    widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]
    yield paint("bold", _line(headings, widths))
    for row in cells:
        yield _line(row, widths)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *numbers = cells
    aligned = [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)]
    return "  ".join([name.ljust(widths[0]), *aligned]).rstrip() + "\n"


def _provider(row: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    claims = row["claims"]
    held = {name: each["confirmed"] for name, each in claims.items() if not each["contradicted"]}
    broken = [
        f"{name} {each['contradicted']} of {each['confirmed'] + each['contradicted']}"
        for name, each in claims.items()
        if each["contradicted"]
    ]
    yield f"\n{paint('bold', row['provider'])}\n"
    yield from _wrapped("confirmed", _counts(held))
    yield from _wrapped("contradicted", broken)
    yield from _wrapped("never seen", row["unseen"])
    yield from _wrapped("not read by any rule", row["unread"])
    yield from _wrapped("nothing claimed, and answered", _counts(row["answered"]))
    yield from _wrapped("refused for another cause than the wire", _counts(row["apart"]))
    yield from _wrapped("departs from the canonical wire, of which no claim tells", _counts(row["departures"]))


def _counts(counted: Mapping[str, int]) -> list[str]:
    return [f"{name} {count}" for name, count in counted.items()]


def _wrapped(heading: str, items: Sequence[str]) -> Iterator[str]:
    """Yield a list under its heading, in lines that break between items only."""
    if not items:
        return
    line = f"  {heading}:"
    for number, item in enumerate(items):
        piece = f" {item}," if number + 1 < len(items) else f" {item}"
        if len(line) + len(piece) > _WIDTH:
            yield f"{line}\n"
            line = "   "
        line += piece
    yield f"{line}\n"


def _failures(calibration: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    for failure in calibration["failures"]:
        kind = paint("red", failure["kind"])
        yield f"\n{_where(failure)}: {kind}{_by(failure)}\n    {_short(failure['message'])}\n"
        yield f"    recording {failure['recording']} of {failure['provider']}\n"
    for failure in calibration["expected"]:
        kind = paint("yellow", f"{failure['kind']}, as expected")
        yield f"\n{_where(failure)}: {kind}{_by(failure)}\n    {printable(failure['reason'])}\n"
    count, expected = len(calibration["failures"]), len(calibration["expected"])
    known = f", and {expected} that {'was' if expected == 1 else 'were'} expected" if expected else ""
    told = paint("red", f"{count} unexpected") if count else paint("green", "nothing unexpected")
    yield f"\n{told}{known}\n"


def _where(failure: Mapping[str, Any]) -> str:
    at = f" at {failure['at']}" if failure["at"] else ""
    return printable(f"{failure['ref']}{at}")


def _by(failure: Mapping[str, Any]) -> str:
    """Return the claims and the rule behind a failure, as far as known."""
    claims = f" {', '.join(failure['claims'])}" if failure["claims"] else ""
    return f"{claims} (by {failure['rule']})" if failure["rule"] else claims


def _short(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
