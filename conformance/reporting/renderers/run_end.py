"""The end of a run for a terminal: the core facts; only what is not conforming, one line of counts, and the links."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from conformance import profiles
from conformance.core_facts import CoreFact
from conformance.reporting.matrix import PROBES, Cell, counts_in_words
from conformance.reporting.matrix.reliability import runs_in_words
from conformance.reporting.matrix.table import FAILING
from conformance.reporting.text import labelled
from conformance.results import NOT_PLAYED, Evidence
from conformance.results.runs import Results

_LABEL: Final = 14
_TITLE: Final = 18
_PAGES: Final = "https://github.com/wire-conformance/wire-conformance/blob/main/reports/providers/"


def render(
    results: Results,
    cells: Sequence[Cell],
    links: Mapping[str, str],
    width: int,
    expected: Callable[[Cell], str] = lambda _: "",
) -> str:
    """Return the text, wrapped to `width`; `links` are commands and addresses by what they show.

    `expected` returns why a failure is expected, or nothing.
    """
    groups = _groups(cells)
    lines = [f"Not conforming: {len(groups) or 'nothing'}"]
    for group in groups:
        lines += ["", *_failing(group, width, expected(group[0]))]
    ended = [case for case in results.cases if case.note and not case.note.startswith(NOT_PLAYED)]
    if ended:
        lines += ["", "Ended early:"]
        lines += [line for case in ended for line in labelled(case.name, case.note, width, 2)]
    lines += [f"Runs: {case.name}: {runs_in_words(case.runs)}" for case in results.cases if case.runs is not None]
    lines += [
        "",
        *labelled("Counts:", f"{counts_in_words([cell.verdict for cell in cells])}; {_evidence(cells)}", width, 0),
    ]
    # Not wrapped, so that it can be copied.
    lines.append(f"Next: {'; '.join([f'{label}: {link}' for label, link in links.items()])}")
    return "\n".join(lines)


def links(provider: str, results: Path | None) -> dict[str, str]:
    """Return where a reader goes on: the whole matrix, the page of the results, and that of the provider.

    `results` is the folder that they are written to, if any.
    """
    how = "--results DIR, then conformance report --results DIR"
    found = {"whole matrix": "--matrix"}
    found["a page"] = how if results is None else f"conformance report --results {shlex.quote(f'{results}')}"
    if provider.partition(".")[0] in profiles.names():
        found["all that is known"] = f"{_PAGES}{provider}.md"
    return found


def _groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return the cells that are not conforming; those that differ only in the variant stand together."""
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells:
        if cell.verdict in FAILING:
            groups.setdefault((cell.row, cell.verdict, cell.evidence, cell.observed), []).append(cell)
    return list(groups.values())


def _failing(group: Sequence[Cell], width: int, expected: str) -> Iterator[str]:
    cell = group[0]
    variants = ", ".join([each.variant for each in group])
    yield from labelled(cell.verdict.upper(), f"{cell.row} ({variants}; {cell.evidence})", width, 2, _LABEL)
    name = cell.row.partition(": ")[2] if cell.family == PROBES else cell.row
    scenarios = dict.fromkeys([name.partition(".")[0] for each in group for name in each.cases])
    details = {
        "claimed": cell.claimed,
        "observed": cell.observed,
        "is expected": expected,
        "in": "" if cell.family == PROBES else ", ".join(scenarios),
        "more": f"conformance explain {name}",
    }
    for label, text in details.items():
        if text:
            yield from labelled(label, text, width, 4, _LABEL)


def _evidence(cells: Sequence[Cell]) -> str:
    """Return the kinds of evidence, and what a simulated pass is worth."""
    kinds = [kind.value for kind in Evidence if any(cell.evidence is kind for cell in cells)]
    shown = f"evidence: {', '.join(kinds) or 'none'}"
    if Evidence.SIMULATED.value not in kinds:
        return shown
    return f"{shown} (the simulator played the profile's claims: `declared` tests the suite, not the provider)"


def render_core_facts(
    facts: Sequence[CoreFact], title: str, model: str, width: int, known: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return the core facts as text, a paragraph each, wrapped to a width.

    `known`: the best that is known of claims beside this run, in words.
    """
    lines = labelled("Core facts:", f"{title}, model {model}", width)
    for fact in facts:
        lines += [
            "",
            *labelled(fact.verdict.value.upper(), fact.title, width, 2, _TITLE),
            *_core_fact(fact, width, known),
        ]
    return "\n".join(lines)


def _core_fact(fact: CoreFact, width: int, known: Mapping[str, str]) -> Iterator[str]:
    seen = "; ".join([f"{name}: {known[name]}" for name in fact.claimed if known.get(name)])
    claimed = "; ".join(f"{name}: {words}" for name, words in fact.claimed.items())
    rows = [("claimed", claimed), ("observed", fact.observed or "nothing"), ("evidence", ", ".join(fact.evidence))]
    rows.append(("elsewhere", seen))
    for label, text in (*rows, *(("because", reason) for reason in fact.reasons)):
        if text:
            yield from labelled(label, text, width, 4, _TITLE)
