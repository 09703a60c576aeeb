"""Everything that was recorded, played again: what the committed results are made of."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from conformance import profiles
from conformance.errors import ConformanceError, Unusable
from conformance.results.files import write
from conformance.suite.run import Options, Run
from conformance.transport.cassette import Shelf


@dataclass(frozen=True, slots=True)
class Replay:
    """One model of a provider, with cassettes to play; `problem` says why it could not be played."""

    provider: str
    model: str
    path: Path | None = None
    problem: str = ""


def recorded(cassettes: Path, provider: str = "", model: str = "") -> tuple[Replay, ...]:
    """Return every model that there are cassettes of, or those of one provider, or one of these.

    Raises UnknownName for a provider that has no profile, and Unusable where nothing was recorded.
    """
    wanted = (profiles.load(provider).name,) if provider else profiles.names()
    every = [Replay(name, each) for name in wanted for each in Shelf(cassettes, name).manifest()]
    found = tuple([each for each in every if not model or each.model == model])
    if not found:
        known = ", ".join([each.model for each in every]) or "none"
        whose = f"{provider or 'any provider'} {model}".strip()
        raise Unusable(f"there are no cassettes of {whose} (models with cassettes: {known})")
    return found


def replay(
    wanted: Sequence[Replay], cassettes: Path, results: Path, jobs: int, told: Callable[[Replay], None]
) -> tuple[Replay, ...]:
    """Play cassettes, several models at a time, and write what came of them; one that breaks does not end the others.

    Each is told in its turn, with the path of its results, or its problem.
    """
    played = []
    for each in _played(wanted, cassettes, results, jobs):
        told(each)
        played.append(each)
    return tuple(played)


def _played(wanted: Sequence[Replay], cassettes: Path, results: Path, jobs: int) -> Iterator[Replay]:
    calls = [(each, cassettes, results) for each in wanted]
    if jobs <= 1 or len(wanted) == 1:
        yield from (_one(*call) for call in calls)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_one, *zip(*calls, strict=True))


def _one(wanted: Replay, cassettes: Path, results: Path) -> Replay:
    """Play one model's cassettes; errors do not cross processes, words do."""
    try:
        run = Run(Options(wanted.provider, cassettes, "", model=wanted.model))
        try:
            for scenario, variant in run.cases():
                run.case(scenario, variant)
        finally:
            run.close()
        return Replay(wanted.provider, wanted.model, write(results, run.results()))
    except ConformanceError as error:
        return Replay(wanted.provider, wanted.model, problem=str(error))
