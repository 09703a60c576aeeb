"""The compatibility matrix for a terminal: rows by family, variants as columns, and the evidence.

It is fitted to the width of the terminal: no value is cut. Where its columns are too wide, each row is a paragraph.
"""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tabulate import tabulate

from conformance.reporting.matrix import PROBES, Cell, counts_in_words
from conformance.reporting.matrix.reliability import runs_in_words
from conformance.reporting.text import labelled
from conformance.results import Evidence, Verdict
from conformance.results.runs import Results

_NARROWEST: Final = 24
"""How wide a column is at least whose values are wrapped."""

_GAP: Final = 2
_KINDS: Final = "evidence"

LEGEND = {
    Evidence.LIVE: "live: requests to a real endpoint in this run",
    Evidence.RECORDED: "recorded: cassettes of a real endpoint",
    Evidence.ENGINE: "engine: cassettes of a real open-source server with a small scripted model",
    Evidence.SIMULATED: "simulated: this project's simulator played the profile's claims; "
    "`declared` tests the suite, not the provider",
}


class _Line(NamedTuple):
    """A row of the matrix in words; `observed` is by variant. A heading has only a name."""

    name: str
    claimed: str = ""
    observed: Sequence[str] = ()
    evidence: str = ""


def render(results: Results, cells: Sequence[Cell], title: str, width: int) -> str:
    """Return the matrix as text: a table, the counts, the evidence, and the notes on cases that ended early."""
    variants = sorted({cell.variant for cell in cells})
    lines: list[_Line] = []
    family = ""
    for row in dict.fromkeys((cell.family, cell.row) for cell in cells):
        if row[0] != family:
            family = row[0]
            lines.append(_Line(f"{family}/" if family != PROBES else "probes: requests with one deviation"))
        lines.append(_row(row, [cell for cell in cells if (cell.family, cell.row) == row], variants))
    shown = [
        *([f"Evidence: {LEGEND[kind]}." for kind in Evidence if any(cell.evidence is kind for cell in cells)]),
        *(["(n seen): n recordings of real traffic confirm the claim."] if _is_seen(cells) else []),
        *(f"Note: {case.name}: {case.note}" for case in results.cases if case.note),
        *(f"Runs: {case.name}: {runs_in_words(case.runs)}" for case in results.cases if case.runs is not None),
    ]
    head = labelled("Compatibility matrix:", f"{title}, model {results.model}", width)
    body = _fitted(lines, variants, width)
    return "\n".join(
        [
            *head,
            "",
            *body,
            "",
            *_wrapped(counts_in_words([cell.verdict for cell in cells]), width),
            *_wrapped_all(shown, width),
        ]
    )


def _fitted(lines: Sequence[_Line], variants: Sequence[str], width: int) -> list[str]:
    """Return the rows as a table, or as paragraphs if their columns do not fit."""
    observed = zip(*[line.observed for line in lines if line.observed], strict=True)
    shares = [min(max(map(len, column)), _NARROWEST) for column in observed]
    fixed = [max([len(line.name) for line in lines if line.evidence], default=0)]
    fixed.append(max([len(line.evidence) for line in lines], default=0))
    # tabulate leaves a column two characters more than its heading has.
    headed = [
        max(each, len(heading) + _GAP) for each, heading in zip([*shares, fixed[1]], [*variants, _KINDS], strict=True)
    ]
    claimed = width - fixed[0] - sum(headed) - _GAP * (len(headed) + 1)
    if claimed < _NARROWEST:
        return [text for line in lines for text in _paragraph(line, variants, width)]
    table = [
        [line.name, _folded(line.claimed, claimed), *map(_folded, line.observed, shares), line.evidence]
        for line in lines
    ]
    headers = ["", "claimed", *variants, _KINDS]
    return tabulate(table, headers, "simple", disable_numparse=True, preserve_whitespace=True).splitlines()


def _paragraph(line: _Line, variants: Sequence[str], width: int) -> Iterator[str]:
    if not line.evidence:
        yield line.name
        return
    yield from labelled("", line.name.strip(), width, _GAP)
    if line.claimed:
        yield from labelled("claimed", line.claimed, width, 4, 14)
    for variant, observed in zip(variants, line.observed, strict=True):
        if observed:
            yield from labelled(variant, f"{observed}, {line.evidence}", width, 4, 14)


def _folded(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(text, max(1, width), break_on_hyphens=False))


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False, subsequent_indent="  ")


def _wrapped_all(texts: Sequence[str], width: int) -> Iterator[str]:
    yield from (line for text in texts for line in _wrapped(text, width))


def _is_seen(cells: Sequence[Cell]) -> bool:
    return any(" seen)" in cell.claimed for cell in cells)


def _row(row: tuple[str, str], cells: Sequence[Cell], variants: Sequence[str]) -> _Line:
    name = row[1] if row[0] == PROBES else row[1].partition("/")[2]
    shown = {cell.variant: _observed(cell) for cell in cells}
    kinds = ", ".join(sorted({cell.evidence.value for cell in cells}))
    return _Line(f"  {name}", cells[0].claimed, [shown.get(variant, "") for variant in variants], kinds)


def _observed(cell: Cell) -> str:
    if cell.verdict is Verdict.UNKNOWN and cell.evidence is Evidence.SIMULATED:
        # Without a claim, the simulator's behaviour says nothing about the provider.
        return cell.verdict.value
    if cell.family == PROBES:
        conforms = cell.verdict in (Verdict.CONFORMS, Verdict.DECLARED)
        return cell.verdict.value if conforms else f"{cell.verdict.value}: {cell.observed}"
    return f"{cell.verdict.value} ({cell.judged})"
