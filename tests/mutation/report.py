"""The report of mutation testing, for people: a row per rule, the unexpected results, and the totals."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.reporting.text import plural, printable

_COLUMNS: Final = {
    "rule": "rule",
    "examples": "examples",
    "mutations": "mutations",
    "mutants": "mutants",
    "itself": "itself",
    "related": "related",
    "others": "others",
    "survived": "survived",
    "false_positives": "false positives",
}
"""The keys of a row, with their headings."""


def render_score(score: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report of a score line by line."""
    # Imported here because listing the report formats loads this module as well.
    from tabulate import tabulate

    rows = [[row[column] for column in _COLUMNS] for row in score["rules"]]
    yield from tabulate(rows, headers=list(_COLUMNS.values())).splitlines()
    for heading, listed in (("Unexpected results", score["unexplained"]), ("Expected exceptions", score["explained"])):
        if listed:
            yield from ("", f"{heading}:")
        for each in listed:
            expected = f"for {', '.join(each['expects'])}" if each["expects"] else "harmless"
            yield f"  {each['from']} ({expected}): {each['wrong']}, {plural(each['times'], 'time')}"
            yield f"    first in {each['base']}: {printable(each['change'])}"
            yield from (f"    {each['why']}",) if "why" in each else ()
    alone = [row for row in score["rules"] if not row["mutations"]]
    if alone:
        yield from ("", "Tested only by their own bad examples, because no mutation of the catalogue is for them:")
        yield from (f"  {row['rule']} ({row['examples']} examples)" for row in alone)
    bases = score["bases"]
    yield from ("", f"Base conversations: {bases['sessions']} sessions, {bases['exchanges']} single exchanges")
    yield _summary(score["total"])


def _summary(total: Mapping[str, int]) -> str:
    return (
        f"{total['mutants']} mutants: {total['itself']} found by the expected rule, {total['related']} only by a "
        f"related rule, {total['others']} only by other rules, {total['survived']} survived\n"
        f"{total['harmless']} harmless changes; {total['with_false_positives']} mutants and changes with a false "
        f"positive\n{total['unexplained']} unexpected results without a reason in the catalogue"
    )
