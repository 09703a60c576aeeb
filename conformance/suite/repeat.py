"""One case played many times: what must hold every time, apart from what a model may or may not do."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeVar

from conformance.results import ENDED_BY_MODEL, Case, Level, Outcome, ProbeResult, Runs, Status

_WORST_FIRST: Final = (Status.ERRORED, Status.FAILED, Status.UNTESTED, Status.PASSED, Status.NOT_APPLICABLE)

Judged = TypeVar("Judged", Outcome, ProbeResult)


def merged(runs: Sequence[Case]) -> Case:
    """Return the case that several runs of it make, at least one.

    A fact that fails in one run fails: what is on the wire does not depend on luck. What a run did not get to because
    the model ended it is untested only where no other run got there. Inconclusive runs are counted and say nothing.
    """
    told = [run for run in runs if not run.is_inconclusive]
    if not any(run.outcomes for run in told):
        idle = told[0] if told else runs[0]
        return idle if told else replace(idle, runs=Runs(len(runs), 0, 0, len(runs)))
    noted = [run for run in told if run.note]
    return replace(
        told[0],
        outcomes=_outcomes(told),
        probes=_probes(told),
        note=f"{noted[0].note} (in {len(noted)} of {len(told)} runs)" if noted else "",
        runs=Runs(
            played=len(runs),
            passed=sum(not run.note and not _fails(run) for run in told),
            ended=sum(map(_is_ended, told)),
            inconclusive=len(runs) - len(told),
        ),
    )


def _outcomes(runs: Sequence[Case]) -> tuple[Outcome, ...]:
    found: dict[str, list[tuple[Outcome, bool]]] = {}
    for run in runs:
        for each in run.outcomes:
            found.setdefault(each.rule, []).append((each, _is_ended(run)))
    return tuple([_worst(found[rule]) for rule in sorted(found)])


def _probes(runs: Sequence[Case]) -> tuple[ProbeResult, ...]:
    found: dict[str, list[tuple[ProbeResult, bool]]] = {}
    for run in runs:
        for each in run.probes:
            found.setdefault(each.name, []).append((each, _is_ended(run)))
    return tuple([_worst(same) for same in found.values()])


def _worst(found: Sequence[tuple[Judged, bool]]) -> Judged:
    """Return the worst of what was judged; with each goes whether the model ended its run."""
    return min(found, key=lambda each: _rank(each[0], ended=each[1]))[0]


def _rank(judged: Outcome | ProbeResult, *, ended: bool) -> tuple[float, int]:
    place: float = _WORST_FIRST.index(judged.status)
    if ended and judged.status is Status.UNTESTED:
        place = _WORST_FIRST.index(Status.PASSED) + 0.5
    return place, -judged.level.severity if isinstance(judged, Outcome) else 0


def _is_ended(run: Case) -> bool:
    return run.note.startswith(ENDED_BY_MODEL)


def _fails(run: Case) -> bool:
    broken = any(each.status is Status.FAILED and each.level is Level.MUST for each in run.outcomes)
    missed = any(each.status in (Status.UNTESTED, Status.ERRORED) for each in run.outcomes)
    return broken or missed or any(each.status in (Status.FAILED, Status.UNTESTED) for each in run.probes)
