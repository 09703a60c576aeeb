"""The results of all faults: reports/faults.json for the runs of users, and reports/faults.md for readers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from conformance import faults
from conformance.artifacts import write
from conformance.suite.visible_faults import ABSENT, OWN
from tests.faults.playing import provider
from tests.faults.verdicts import GREEN, OTHER, WARNED, Row

DATA: Final = "faults.json"
PAGE: Final = "faults.md"
_WIRES: Final = ("chat", "messages", "responses", "gemini")
_SHOWN: Final = {
    OWN: "red", OTHER: "**red for another**", WARNED: "**warned**", GREEN: "**green**", ABSENT: "not here"
}  # fmt: skip
_HARMLESS: Final = {OWN: "**red**", OTHER: "**red**", WARNED: "warned", GREEN: "green", ABSENT: "not here"}
_MOST: Final = 3
"""So many causes of a verdict are named in a cell."""

_HEAD: Final = """\
# Known faults of servers

Each fault that a real server was reported to make is put between the suites and a simulated provider whose script they
do not know: other words, ids and dates of now, no mark, so that all evidence counts as live. The verdict is that of
`pytest --provider=P --live`. *Red*: the run fails and names the fault. *Red for another*: it fails, but names something
else. *Warned*: it passes with a warning. *Green*: it passes, so such a run says nothing about this fault. *Not here*:
no reply of this provider can have the fault.

A fault counts as what the worse of its variants (plain, stream) shows, since a server may have it in one only. Harmless
changes are what clients have to cope with; no run may fail because of them. Written by
`python -m tests.faults deepseek anthropic openai/responses gemini --write`.
"""
_SUMS: Final = (
    "wire", "provider", "faults", "red", "for another", "warned", "green", "not here", "red for its own rule",
    "harmless, green",
)  # fmt: skip


def line(row: Row) -> str:
    """Return a row as a line of text."""
    parts = [f"{variant} {each.verdict} {', '.join(each.causes)}".rstrip() for variant, each in row.verdicts.items()]
    kind = "harmless" if row.fault.harmless else row.verdict
    return f"{row.fault.name:<40} {kind:<8} {row.provider}: {'; '.join(parts)}"


def update(folder: Path, text: str, played: Sequence[Row]) -> None:
    """Replace the results of these faults on a provider's wire in the data, and write the page from all results."""
    path = folder / DATA
    data: dict[str, Any] = orjson.loads(path.read_bytes()) if path.exists() else {}
    wire = provider(text).profile.wire
    every_row = data.get(wire, {}).get("faults", {}) | {row.fault.name: _value(row) for row in played}
    kept = {name: every_row[name] for name in faults.names() if name in every_row and wire in faults.load(name).wires}
    data[wire] = {"provider": text, "faults": kept}
    known: dict[str, Any] = {wire: data[wire] for wire in _WIRES if wire in data}
    write(path, orjson.dumps(known, option=orjson.OPT_INDENT_2) + b"\n")
    write(folder / PAGE, "\n".join(page(known)) + "\n")


def _value(row: Row) -> dict[str, Any]:
    about: dict[str, Any] = {"verdict": row.verdict, "harmless": row.fault.harmless, "provider": row.provider}
    return about | {"variants": {variant: each._asdict() for variant, each in row.verdicts.items()}}


def page(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield _HEAD
    yield f"| {' | '.join(_SUMS)} |"
    yield f"|{'---|' * len(_SUMS)}"
    for wire in data:
        yield _sum(wire, data[wire])
    yield ""
    yield f"| fault | what the server does | {' | '.join(data)} |"
    yield f"|---|---|{'---|' * len(data)}"
    for name in sorted({name for each in data.values() for name in each["faults"]}):
        fault = faults.load(name)
        cells = [_cell(each["faults"].get(name), each["provider"]) for each in data.values()]
        harmless = "Harmless. " if fault.harmless else ""
        yield f"| `{name}` | {harmless}{fault.title} [Report]({fault.source}) | {' | '.join(cells)} |"


def _sum(wire: str, about: Mapping[str, Any]) -> str:
    verdicts = [each["verdict"] for each in about["faults"].values() if not each["harmless"]]
    calm = [each["verdict"] for each in about["faults"].values() if each["harmless"] and each["verdict"] != ABSENT]
    counts = [verdicts.count(each) for each in (OWN, OTHER, WARNED, GREEN, ABSENT)]
    number = len(verdicts) - verdicts.count(ABSENT)
    share = f"{100 * counts[0] / number:.0f} %" if number else ""
    good = sum(each in (GREEN, WARNED) for each in calm)
    numbers = " | ".join(map(str, [number, *counts]))
    return f"| {wire} | {about['provider']} | {numbers} | {share} | {good} of {len(calm)} |"


def _cell(value: Mapping[str, Any] | None, usual: str) -> str:
    if value is None:
        return ""
    words = (_HARMLESS if value["harmless"] else _SHOWN)[value["verdict"]]
    worst = [each for each in value["variants"].values() if each["verdict"] == value["verdict"]]
    causes = sorted({cause for each in worst for cause in each["causes"]})
    shown = causes[:_MOST] if value["verdict"] in (OTHER, WARNED) else []
    more = f" and {len(causes) - _MOST} more" if len(causes) > _MOST and shown else ""
    where = f" at {value['provider']}" if value["provider"] != usual else ""
    less = [name for name, each in value["variants"].items() if each["verdict"] == value["verdict"]]
    only = f" ({less[0]})" if len(less) == 1 and len(value["variants"]) > 1 and words.startswith("**") else ""
    return f"{words}{only}{where}{': ' if shown else ''}{', '.join(shown)}{more}"
