"""The compatibility matrix for a terminal: rows by family, variants as columns, and the evidence."""

from collections.abc import Sequence

from tabulate import tabulate

from conformance.reporting.matrix import CELL_VERDICTS, PROBES, Cell
from conformance.reporting.matrix.reliability import RUNS_IN_A_ROW, estimate, reliability
from conformance.reporting.text import shorten
from conformance.results import Evidence, Results, Runs, Verdict

WIDTH = 44

LEGEND = {
    Evidence.LIVE: "live: requests to a real endpoint in this run",
    Evidence.RECORDED: "recorded: cassettes of a real endpoint",
    Evidence.ENGINE: "engine: cassettes of a real open-source server with a small scripted model",
    Evidence.SIMULATED: "simulated: this project's simulator played the profile's claims; "
    "`declared` tests the suite, not the provider",
}


def render(results: Results, cells: Sequence[Cell], title: str) -> str:
    """Return the matrix as text: a table, the counts, the evidence, and the notes on cases that ended early."""
    variants = sorted({cell.variant for cell in cells})
    table: list[list[str]] = []
    family = ""
    for row in dict.fromkeys((cell.family, cell.row) for cell in cells):
        if row[0] != family:
            family = row[0]
            table.append([f"{family}/" if family != PROBES else "probes: requests with one deviation"])
        table.append(_row(row, [cell for cell in cells if (cell.family, cell.row) == row], variants))
    headers = ["", "claimed", *variants, "evidence"]
    lines = [
        f"Compatibility matrix: {title}, model {results.model}",
        "",
        tabulate(table, headers=headers, tablefmt="simple", disable_numparse=True, preserve_whitespace=True),
        "",
        _counts(cells),
        *(f"Evidence: {LEGEND[kind]}." for kind in Evidence if any(cell.evidence is kind for cell in cells)),
        *(["(n seen): n recordings of real traffic confirm the claim."] if _is_seen(cells) else []),
        *(f"Note: {case.name}: {case.note}" for case in results.cases if case.note),
        *(f"Runs: {case.name}: {_runs(case.runs)}" for case in results.cases if case.runs is not None),
    ]
    return "\n".join(lines)


def _runs(runs: Runs) -> str:
    """Return how often a case passed, with pass^k and its interval, and whether the runs are enough."""
    parts = {"ended early by the model": runs.ended, "inconclusive": runs.inconclusive}
    parts["failed"] = runs.conclusive - runs.passed - runs.ended
    counts = ", ".join(
        [f"{runs.passed} of {runs.conclusive} passed", *(f"{n} {what}" for what, n in parts.items() if n)]
    )
    shown = [each for k in (1, RUNS_IN_A_ROW) if (each := estimate(runs, k)) is not None]
    shares = "".join([f"; pass^{each.k} {each.share:.2f} (95 %: {each.low:.2f} to {each.high:.2f})" for each in shown])
    return f"{counts}{shares}; {reliability(runs).value}"


def _is_seen(cells: Sequence[Cell]) -> bool:
    return any(" seen)" in cell.claimed for cell in cells)


def _row(row: tuple[str, str], cells: Sequence[Cell], variants: Sequence[str]) -> list[str]:
    name = row[1] if row[0] == PROBES else row[1].partition("/")[2]
    shown = {cell.variant: _observed(cell) for cell in cells}
    kinds = ", ".join(sorted({cell.evidence.value for cell in cells}))
    return [f"  {name}", shorten(cells[0].claimed, WIDTH), *(shown.get(variant, "") for variant in variants), kinds]


def _observed(cell: Cell) -> str:
    if cell.verdict is Verdict.UNKNOWN and cell.evidence is Evidence.SIMULATED:
        # Without a claim, the simulator's behaviour is no information about the provider.
        return cell.verdict.value
    if cell.family == PROBES:
        return (
            cell.verdict.value
            if cell.verdict in (Verdict.CONFORMS, Verdict.DECLARED)
            else shorten(f"{cell.verdict.value}: {cell.observed}", WIDTH // 2)
        )
    return f"{cell.verdict.value} ({cell.judged})"


def _counts(cells: Sequence[Cell]) -> str:
    counted = {verdict: sum(cell.verdict is verdict for cell in cells) for verdict in CELL_VERDICTS}
    return ", ".join(f"{count} {verdict.value}" for verdict, count in counted.items() if count) or "nothing was checked"
