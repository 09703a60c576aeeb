"""Replays of all cassettes, which give the committed results."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance import profiles
from conformance.errors import ConformanceError, Unusable
from conformance.results.files import write
from conformance.suite import subjects
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


def recorded(cassettes: Path, provider: str = "", model: str = "") -> tuple[Replay, ...]:
    """Return a replay for each model with cassettes, of every provider or of one, or for one model.

    Raises UnknownName for a provider without a profile, and Unusable if there are no cassettes.
    """
    profile = profiles.load_profile(provider) if provider else None
    wanted = [(name, name) for name in subjects.names()] if profile is None else [(profile.reference, profile.name)]
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
    calls = [(each, cassettes, results) for each in wanted]
    if jobs <= 1 or len(wanted) == 1:
        yield from (_one(*call) for call in calls)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_one, *zip(*calls, strict=True))


def _one(wanted: Replay, cassettes: Path, results: Path) -> Replay:
    """Replay one model's cassettes; an error becomes text, since exceptions do not cross processes well."""
    try:
        run = Run(Options(wanted.provider, cassettes, "", model=wanted.model))
        try:
            for scenario, variant in run.cases():
                run.case(scenario, variant)
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
