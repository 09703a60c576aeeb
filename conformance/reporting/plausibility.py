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
from conformance.results import PUBLIC_RECORDINGS, TRAFFIC, Evidence
from conformance.results.files import RECORDED, damage
from conformance.results.record import package_version
from conformance.results.runs import Results
from conformance.scenarios import load, names


class KnownExchanges(NamedTuple):
    """Exchanges that this project published: of which results, and what kinds of evidence they are."""

    name: str
    kinds: frozenset[Evidence]


def doubts(found: Sequence[tuple[Path, Results]]) -> Iterator[str]:
    """Yield what speaks against results with their files, each as a sentence that names the file."""
    for path, results in found:
        yield from (f"{path.name} {reason}" for reason in damage(path))
        yield from (f"{path.name} {reason}" for reason in (*_of_evidence(results), *_of_cases(results)))


def _of_evidence(results: Results) -> Iterator[str]:
    run = results.run
    # Public recordings are of many days and hosts, and the index names each.
    kinds = frozenset(case.evidence for case in results.cases if case.scenario != PUBLIC_RECORDINGS)
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


def _of_cases(results: Results) -> Iterator[str]:
    """Yield which cases of a whole run of the suites are missing, if another version does not have other ones."""
    played = {case.name for case in results.cases}
    is_suite = not results.provider and not {case.scenario for case in results.cases} & {TRAFFIC, PUBLIC_RECORDINGS}
    selection = results.run.selection
    if not is_suite or selection is None or not selection.is_whole or results.run.version != package_version():
        return
    if missing := [name for name in _suite() if name not in played]:
        more = f" and {len(missing) - 1} more" if missing[1:] else ""
        yield f"is said to be of a whole run, and has no case {missing[0]}{more}"


def _suite() -> Iterator[str]:
    for scenario in map(load, names()):
        yield from (f"{scenario.name}.{variant}" for variant in scenario.variants if not scenario.for_clients)


@cache
def _known() -> Mapping[str, KnownExchanges]:
    """Return the exchanges of the results of this project, by their digest; adapters' runs have none."""
    root = unpacked(folder("reports") / "results")
    found = {}
    for path in sorted([*root.glob("*.json"), *root.glob(f"{RECORDED}/*.json")]):
        # They are ours and large, so nothing but what is needed of them is read.
        run = orjson.loads(path.read_bytes())["run"]
        if run["exchanges"]:
            found[run["exchanges"]] = KnownExchanges(path.stem, frozenset(map(Evidence, run["evidence"])))
    return found
