"""Report of planted faults for people: a row a rule, what went wrong and where, and the sum."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.reporting.text import printable

_COLUMNS: Final = ("rule", "examples", "vices", "mutants", "itself", "kin", "others", "survived", "accuses")


def render_score(score: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report of a score line by line."""
    # Imported here because whoever asks for the formats of other reports loads this module as well.
    from tabulate import tabulate

    rows = [[row[column] for column in _COLUMNS] for row in score["rules"]]
    yield from tabulate(rows, headers=_COLUMNS).splitlines()
    for heading, holes in (("Not as expected", score["holes"]), ("Excused", score["excused"])):
        if holes:
            yield from ("", f"{heading}:")
        for hole in holes:
            meant = f"for {', '.join(hole['expects'])}" if hole["expects"] else "harmless"
            yield f"  {hole['planted']} ({meant}): {hole['wrong']}, {hole['times']} times"
            yield f"    first in {hole['host']}: {printable(hole['change'])}"
            yield from (f"    {hole['why']}",) if "why" in hole else ()
    alone = [row for row in score["rules"] if not row["vices"]]
    if alone:
        yield from ("", "Found by their own bad examples only: no vice of the catalogue is meant for")
        yield from (f"  {row['rule']} ({row['examples']} examples)" for row in alone)
    hosts = score["hosts"]
    yield from ("", f"Good conversations: {hosts['sessions']} sessions, {hosts['exchanges']} single exchanges")
    yield _summary(score["total"])


def _summary(total: Mapping[str, int]) -> str:
    return (
        f"{total['mutants']} faults planted: {total['itself']} found by their own rule, {total['kin']} by its kin "
        f"only, {total['others']} by others only, {total['survived']} by none\n"
        f"{total['harmless']} harmless changes made; in {total['accusing']} of all another rule accuses falsely\n"
        f"{total['unexplained']} of all without a reason in the catalogue for what is not as expected"
    )
