"""One case played many times: what must hold every time is separated from what a model is free to do."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeVar

from conformance.results import ENDED_BY_MODEL, Level, Outcome, Status
from conformance.results.runs import Case, ProbeResult, Runs
from conformance.suite.as_scripted import RESULTS_PAIRED
from conformance.suite.play import NO_REASONING, SILENT

_WORST_FIRST: Final = (Status.ERRORED, Status.FAILED, Status.UNTESTED, Status.PASSED, Status.NOT_APPLICABLE)

Checked = TypeVar("Checked", Outcome, ProbeResult)


def merged(runs: Sequence[Case]) -> Case:
    """Return one case for at least one run of it.

    A fact that fails in one run fails, since the wire must not depend on luck. What a run did not reach because the
    model ended it is untested only if no other run reached it. What a model decides, such as whether it shows its
    reasoning, fails only if it fails in every run. Inconclusive runs are only counted.
    """
    conclusive = [run for run in runs if not run.is_inconclusive]
    if not any(run.outcomes for run in conclusive):
        idle = conclusive[0] if conclusive else runs[0]
        return idle if conclusive else replace(idle, runs=Runs(len(runs), 0, 0, len(runs)))
    noted = [run for run in conclusive if run.note]
    return replace(
        conclusive[0],
        outcomes=_outcomes(conclusive),
        probes=_probes(conclusive),
        note=f"{noted[0].note} (in {len(noted)} of {len(conclusive)} runs)" if noted else "",
        runs=Runs(
            played=len(runs),
            passed=sum(not run.note and not _fails(run) for run in conclusive),
            ended=sum(map(_is_ended, conclusive)),
            inconclusive=len(runs) - len(conclusive),
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


def _worst(found: Sequence[tuple[Checked, bool]]) -> Checked:
    """Return the worst result; each comes with whether the model ended its run."""
    return min(found, key=lambda each: _rank(each[0], ended=each[1]))[0]


def _rank(checked: Outcome | ProbeResult, *, ended: bool) -> tuple[float, int]:
    place: float = _WORST_FIRST.index(checked.status)
    if (ended and checked.status is Status.UNTESTED) or _is_by_chance(checked):
        place = _WORST_FIRST.index(Status.PASSED) + 0.5
    return place, -checked.level.severity if isinstance(checked, Outcome) else 0


def _is_by_chance(checked: Outcome | ProbeResult) -> bool:
    """Return True if a model may do by chance what fails: one run that does better is enough."""
    if isinstance(checked, Outcome):
        return checked.status is Status.UNTESTED and checked.reason.endswith(SILENT)
    if checked.name == RESULTS_PAIRED:
        return checked.status is Status.FAILED
    return checked.status is Status.UNTESTED and checked.observed == NO_REASONING


def _is_ended(run: Case) -> bool:
    return run.note.startswith(ENDED_BY_MODEL)


def _fails(run: Case) -> bool:
    broken = any(each.status is Status.FAILED and each.level is Level.MUST for each in run.outcomes)
    missed = any(each.status in (Status.UNTESTED, Status.ERRORED) for each in run.outcomes)
    return broken or missed or any(each.status in (Status.FAILED, Status.UNTESTED) for each in run.probes)
