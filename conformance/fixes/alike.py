"""The fix of one finding, moved to those that say the same at other positions: a key that no message may have, say.

To judge each change alone takes the square of their number. So the first and the last one are judged alone, and then
all of them together. Only changes that leave something out are moved, since others depend on what stands there.
"""

from collections.abc import Callable, Sequence
from typing import Final

from conformance.documents.patch import Operation, apply
from conformance.documents.pointer import parse, render
from conformance.fixes.trial import ProvenPatch, Trial

LEAST: Final = 4
"""Of fewer findings, each is fixed alone."""
_MOST: Final = 8
"""A patch of more operations is not that of its finding alone."""


def move_to_all(trial: Trial, found: ProvenPatch, search: Callable[[Trial], ProvenPatch | None]) -> None:
    """Keep what fixes one finding, moved to all that are alike, if it fixes the last one, and all of them together.

    `search`: finds what fixes another one alone.
    """
    places, candidate = trial.take_alike(), found.candidate
    if len(places) < LEAST or len(found.patch) > _MOST or candidate.origin or candidate.retold:
        return
    if any(each["op"] != "remove" or each["path"].rpartition("/")[2].isdecimal() for each in found.patch):
        return
    patches = {place: _moved(found.patch, trial.place, place) for place in places}
    last = places[-1] if places[-1] != trial.place else places[0]
    alone = search(trial.of(last)) if all(patches.values()) else None
    if alone is None or [*alone.patch] != patches[last] or alone.candidate.title != candidate.title:
        return
    try:
        request = apply(trial.problem.request, [operation for each in patches.values() for operation in each])
    except (LookupError, ValueError):
        return
    if trial.accepts_for_all(candidate._replace(request=request), places):
        trial.keep({place: ProvenPatch(patch, candidate) for place, patch in patches.items()})


def _moved(patch: Sequence[Operation], one: str, other: str) -> list[Operation]:
    """Return a patch for a place as that for another one, which differs by positions; empty if it is also elsewhere."""
    before, after = parse(one), parse(other)
    end = max([at + 1 for at, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]], default=0)
    paths = [parse(each["path"]) for each in patch]
    if any(path[:end] != before[:end] for path in paths):
        return []
    return [{**each, "path": render((*after[:end], *path[end:]))} for each, path in zip(patch, paths, strict=True)]
