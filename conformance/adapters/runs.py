"""Many cases: an adapter through every scenario with one provider, several drivers at a time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, TypeAlias

from conformance import profiles, scenarios
from conformance.adapters.case import Run, Subject, play
from conformance.adapters.definition import AdapterDefinition
from conformance.adapters.driver import Driver
from conformance.errors import UnknownName, Unusable
from conformance.results import Case, Results, Status
from conformance.results.files import read
from conformance.scenarios import VARIANTS, Scenario
from conformance.simulator.sessions import staged

OWN: Final = "driver"
"""What an adapter is called that is no more than a command."""

Heard: TypeAlias = Callable[[Run, int, int], None]
"""Hears of each case when it has ended, how many have, and of how many."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run: an adapter's name with its version, the cases of one provider, and in which variants.

    `scenarios` are globs; none: all. `driver` is how it is driven.
    """

    name: str
    driver: Driver
    provider: str
    model: str = ""
    scenarios: tuple[str, ...] = ()
    variants: tuple[str, ...] = VARIANTS
    strict: bool = False

    @property
    def cases(self) -> tuple[tuple[Scenario, str], ...]:
        """Return the scenarios with their variants, in order; raises UnknownName where a glob fits none."""
        known = scenarios.names()
        for glob in self.scenarios:
            if not any(fnmatchcase(name, glob) for name in known):
                raise UnknownName("scenario", glob, known)
        chosen = [name for name in known if not self.scenarios or any(fnmatchcase(name, g) for g in self.scenarios)]
        every = [(scenarios.load(name), variant) for name in chosen for variant in self.variants]
        return tuple([(scenario, variant) for scenario, variant in every if variant in scenario.variants])


def plan_of(definition: AdapterDefinition, provider: str, driver: Driver) -> Plan:
    """Return the plan of every case of an adapter with one of its providers."""
    if provider not in definition.models:
        raise UnknownName(f"provider of {definition.name}", provider, definition.providers)
    name = f"{definition.name}@{definition.version}" if definition.version else definition.name
    return Plan(name, driver, provider, definition.models[provider], variants=definition.variants)


def run(plan: Plan, jobs: int, heard: Heard) -> tuple[Results, tuple[Run, ...]]:
    """Run a plan with so many drivers at a time, and return the results and each run, in the order of the cases.

    Raises Unusable where nobody knows which model to ask for, or no case is left to play.
    """
    profile = profiles.load(plan.provider)
    subject = Subject(plan.driver, profile, plan.model or profile.model, plan.strict)
    if not subject.model:
        raise Unusable(f"{profile.title} has no usual model; name one with --model")
    cases = plan.cases
    if not cases:
        raise Unusable(f"no scenario that was chosen is played in these variants: {', '.join(plan.variants)}")
    with staged() as stage, ThreadPoolExecutor(max(1, jobs)) as pool:
        waiting = {
            pool.submit(play, stage, scenario, variant, subject): at for at, (scenario, variant) in enumerate(cases)
        }
        try:
            for done, future in enumerate(as_completed(waiting), 1):
                heard(future.result(), done, len(cases))
        finally:
            for future in waiting:
                future.cancel()
    runs = tuple([future.result() for future in waiting])
    versions = next((each.versions for each in runs if each.versions), {})
    return Results(plan.name, subject.model, tuple([each.case for each in runs]), plan.provider, versions), runs


def path(folder: Path, plan: Plan) -> Path:
    """Return where the results of a plan stand in a folder."""
    return folder / f"{plan.name}.{plan.provider}.json"


def is_done(folder: Path, plan: Plan) -> bool:
    """Say whether the results of a plan stand in a folder already: every case, and none that errored."""
    target = path(folder, plan)
    if not target.is_file():
        return False
    results = read(target)
    names = {case.name for case in results.cases}
    wanted = {f"{scenario.name}.{variant}" for scenario, variant in plan.cases}
    return names == wanted and not any(map(_has_errored, results.cases))


def _has_errored(case: Case) -> bool:
    return any(outcome.status is Status.ERRORED for outcome in case.outcomes)
