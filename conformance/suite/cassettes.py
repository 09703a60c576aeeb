"""The cassettes of all providers: each case of a model is recorded, and replays give the committed results."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from conformance import profiles, wires
from conformance.errors import ConformanceError, Unusable
from conformance.processes.workers import in_order, worker_pool
from conformance.results import Evidence
from conformance.results.files import write
from conformance.results.runs import Case, Results
from conformance.suite.options import Options
from conformance.suite.run import Run
from conformance.transport.shelf import CassetteFolder

_SHOWN: Final = 3
"""How many broken cassettes of a model are named."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The replay of one model's cassettes; `problem` says why it failed."""

    provider: str
    model: str
    path: Path | None = None
    problem: str = ""


def subjects() -> Iterator[str]:
    """Yield what can be recorded: each provider by its name, and each wire that it serves beside chat completions.

    Such a wire is named `<provider>.<wire>`.
    """
    played = {wire.name for wire in wires.load()}
    for name in profiles.names():
        profile = profiles.load(name)
        if profile.claims or not profile.protocols:
            yield name
        for wire, section in profile.protocols.items():
            if wire in played:
                yield section.name


def record(
    options: Options, log: Callable[[Case], None] = lambda _: None, warn: Callable[[str], None] = lambda _: None
) -> Results:
    """Record every case of a model and return the results; each case is logged when it is done.

    The cassettes replace the old ones together in the end. Those of scenarios that no longer exist are removed. `warn`
    gets what was not recorded, why, and what can be resumed. Raises Unusable if simulated replies would replace real
    ones, and if the endpoint cannot be used.
    """
    run = Run(replace(options, record=True))
    is_done = False
    try:
        for scenario, variant in run.cases():
            log(run.case(scenario, variant))
        is_done = True
        run.end()
    finally:
        for line in warnings(run, is_done=is_done):
            warn(line)
        run.close(is_done=is_done)
    return run.results()


def warnings(run: Run, *, is_done: bool) -> Iterator[str]:
    """Yield what a run did not record, why, and how to go on if it ended early."""
    for case, reason in run.left_out.items():
        yield f"{case} is not recorded: {reason}"
    if run.stopped:
        yield run.stopped
    if run.staged and (run.stopped or not is_done):
        yield f"no cassette has changed; cases recorded so far: {len(run.staged)}; to go on, add --resume"


def simulated_models(cassettes: Path) -> Iterator[tuple[str, str]]:
    """Yield each provider with its default model and every model that it has simulated cassettes of."""
    for name in subjects():
        entries = CassetteFolder(cassettes, name).manifest()
        real = {model for model, entry in entries.items() if entry.evidence is not Evidence.SIMULATED}
        # An engine's cassettes replace those that were simulated for its profile.
        ran = any(entries[model].evidence is Evidence.ENGINE for model in real)
        default = "" if ran else profiles.load(name).model
        for model in sorted({default, *entries} - real - {""}):
            yield name, model


def recorded(cassettes: Path, provider: str = "", model: str = "") -> tuple[Replay, ...]:
    """Return a replay for each model with cassettes, of every provider or of one, or for one model.

    Raises UnknownName for a provider without a profile, and Unusable if there are no cassettes.
    """
    profile = profiles.load_profile(provider) if provider else None
    wanted = [(name, name) for name in subjects()] if profile is None else [(profile.reference, profile.name)]
    every = [Replay(given, each) for given, name in wanted for each in CassetteFolder(cassettes, name).manifest()]
    found = tuple([each for each in every if not model or each.model == model])
    if not found:
        known = ", ".join([each.model for each in every]) or "none"
        whose = f"{provider or 'any provider'} {model}".strip()
        raise Unusable(f"there are no cassettes of {whose} (models with cassettes: {known})")
    return found


def replay(
    wanted: Sequence[Replay], cassettes: Path, results: Path, jobs: int, log: Callable[[Replay], None]
) -> tuple[Replay, ...]:
    """Replay cassettes, several models at a time, and write the results; a failure does not stop the others.

    Each replay is logged in order, with the path of its results or its problem.
    """
    done = []
    for each in _replays(wanted, cassettes, results, jobs):
        log(each)
        done.append(each)
    return tuple(done)


def _replays(wanted: Sequence[Replay], cassettes: Path, results: Path, jobs: int) -> Iterator[Replay]:
    play = partial(_one, cassettes=cassettes, results=results)
    if jobs <= 1 or len(wanted) == 1:
        yield from map(play, wanted)
        return
    with worker_pool(jobs) as pool:
        yield from in_order(pool, play, wanted)


def _one(wanted: Replay, cassettes: Path, results: Path) -> Replay:
    """Replay one model's cassettes; an error becomes text, since exceptions do not cross processes well."""
    try:
        run = Run(Options(wanted.provider, cassettes, "", model=wanted.model))
        try:
            for scenario, variant in run.cases():
                run.case(scenario, variant)
            run.end()
        finally:
            run.close()
        played = run.results()
        broken = [case.note for case in played.cases if case.is_unreadable]
        # What can be replayed is worth its results; without any, the former ones stay.
        target = write(results, played) if any(case.outcomes for case in played.cases) else None
        return Replay(wanted.provider, wanted.model, target, _listed(broken))
    except ConformanceError as error:
        return Replay(wanted.provider, wanted.model, problem=str(error))


def _listed(problems: Sequence[str]) -> str:
    more = f"; and {len(problems) - _SHOWN} more cases" if len(problems) > _SHOWN else ""
    return "; ".join(problems[:_SHOWN]) + more
