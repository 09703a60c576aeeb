"""What speaks against results that somebody states: their files are damaged, or their evidence is not what it says.

A digest proves that a file was not edited since the digest was made, and nobody needs a secret to make one. So results
are held against what a run of their kind of evidence always leaves, and against the exchanges that this project knows.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import orjson

from conformance.resources import folder, unpacked
from conformance.results import Evidence
from conformance.results.files import damage
from conformance.results.runs import Results


class KnownExchanges(NamedTuple):
    """Exchanges that this project published: of which results, and what kinds of evidence they are."""

    name: str
    kinds: frozenset[Evidence]


def doubts(found: Sequence[tuple[Path, Results]]) -> Iterator[str]:
    """Yield what speaks against results with their files, each as a sentence that names the file."""
    for path, results in found:
        yield from (f"{path.name} {reason}" for reason in damage(path))
        yield from (f"{path.name} {reason}" for reason in _of_evidence(results))


def _of_evidence(results: Results) -> Iterator[str]:
    kinds = frozenset(case.evidence for case in results.cases)
    run = results.run
    for kind in sorted(kinds - {Evidence.SIMULATED}):
        needed: dict[str, object] = {"digest of exchanges": run.exchanges}
        if kind is Evidence.LIVE:
            needed |= {"host": run.host, "date": run.date, "number of requests": run.requests}
        if lacking := [name for name, value in needed.items() if not value]:
            yield f"has {kind} evidence, and its run has no {', no '.join(lacking)}: no {kind} run leaves that out"
    known = _known().get(run.exchanges) if kinds - {Evidence.SIMULATED} else None
    if known is not None and kinds - known.kinds:
        theirs, ours = (", ".join(sorted(each)) for each in (kinds, known.kinds))
        yield f"has {theirs} evidence, and its exchanges are those of {known.name}, whose evidence is {ours}"


@cache
def _known() -> Mapping[str, KnownExchanges]:
    """Return the exchanges of the results of this project, by their digest; adapters' runs have none."""
    root = unpacked(folder("reports") / "results")
    found = {}
    for path in sorted(root.glob("*.json")):
        # They are ours and large, so nothing but what is needed of them is read.
        run = orjson.loads(path.read_bytes())["run"]
        if run["exchanges"]:
            found[run["exchanges"]] = KnownExchanges(path.stem, frozenset(map(Evidence, run["evidence"])))
    return found
