"""The report of mutation testing, for people: a row per rule, the unexpected results, and the totals."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.reporting.text import plural, printable

_COLUMNS: Final = {
    "rule": "rule",
    "examples": "examples",
    "vices": "mutations",
    "mutants": "mutants",
    "itself": "itself",
    "kin": "related",
    "others": "others",
    "survived": "survived",
    "accuses": "false positives",
}
"""The keys of a row, with their headings."""


def render_score(score: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report of a score line by line."""
    # Imported here because listing the report formats loads this module as well.
    from tabulate import tabulate

    rows = [[row[column] for column in _COLUMNS] for row in score["rules"]]
    yield from tabulate(rows, headers=list(_COLUMNS.values())).splitlines()
    for heading, holes in (("Unexpected results", score["holes"]), ("Expected exceptions", score["excused"])):
        if holes:
            yield from ("", f"{heading}:")
        for hole in holes:
            expected = f"for {', '.join(hole['expects'])}" if hole["expects"] else "harmless"
            yield f"  {hole['planted']} ({expected}): {hole['wrong']}, {plural(hole['times'], 'time')}"
            yield f"    first in {hole['host']}: {printable(hole['change'])}"
            yield from (f"    {hole['why']}",) if "why" in hole else ()
    alone = [row for row in score["rules"] if not row["vices"]]
    if alone:
        yield from ("", "Tested only by their own bad examples, because no mutation of the catalogue is for them:")
        yield from (f"  {row['rule']} ({row['examples']} examples)" for row in alone)
    bases = score["hosts"]
    yield from ("", f"Base conversations: {bases['sessions']} sessions, {bases['exchanges']} single exchanges")
    yield _summary(score["total"])


def _summary(total: Mapping[str, int]) -> str:
    return (
        f"{total['mutants']} mutants: {total['itself']} found by the expected rule, {total['kin']} only by a related "
        f"rule, {total['others']} only by other rules, {total['survived']} survived\n"
        f"{total['harmless']} harmless changes; {total['accusing']} mutants and changes with a false positive\n"
        f"{total['unexplained']} unexpected results without a reason in the catalogue"
    )
