"""Runs: an adapter goes through every scenario with one provider, several drivers at a time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any, Final, TypeAlias

import orjson

from conformance import artifacts, processes, profiles, scenarios
from conformance.adapters.case import AdapterSetup, CaseRun, run_case
from conformance.adapters.definition import AdapterDefinition
from conformance.adapters.driver import Driver, Surroundings
from conformance.adapters.proof import with_requests
from conformance.errors import UnknownName, Unusable
from conformance.observations.sights import digest
from conformance.profiles import Profile, naming
from conformance.results import NOT_PLAYED, Status
from conformance.results.files import read
from conformance.results.record import ExchangesDigest, RunRecord, Selection, package_version
from conformance.results.runs import Case, Results
from conformance.scenarios import VARIANTS, Scenario
from conformance.secrets import Scrubber
from conformance.simulator.sessions import serving_sessions
from conformance.suite.options import on_wire
from conformance.wire.exchange import Conversation, Exchange
from conformance.wires import by_name
from conformance.wires.chat import PATH

UNNAMED: Final = "driver"
"""The name of an adapter that is only a command."""

_RECORDED_HEADERS: Final = ("content-type",)

OnCase: TypeAlias = Callable[[CaseRun, int, int], None]
"""Called at the end of each case with the case, how many have ended, and how many there are."""

OnNetwork: TypeAlias = Callable[[str], None]
"""Called if drivers can reach more than the simulator, with the reason."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What to run: an adapter's name with its version, its driver, a provider, and which of the provider's cases.

    `scenarios` are globs; without any, all scenarios are run. `variants` are those that the adapter has, and `variant`
    is the only one that is run; empty: each of them. `takes_history`: the driver begins with the job's history, which
    the adapter sends as it is given with `history_as_given`. `states`: what the driver can leave to a server.
    """

    name: str
    driver: Driver
    profile: Profile
    model: str = ""
    scenarios: tuple[str, ...] = ()
    variants: tuple[str, ...] = VARIANTS
    variant: str = ""
    strict: bool = False
    takes_history: bool = False
    history_as_given: bool = False
    states: tuple[str, ...] = ()

    @property
    def provider(self) -> str:
        """Return the name of the provider."""
        return self.profile.name

    @property
    def cases(self) -> tuple[tuple[Scenario, str], ...]:
        """Return the scenarios of the wire with their variants, in order; raises UnknownName if a glob matches none."""
        loaded = scenarios.played_by_clients(
            self.profile.wire,
            self.scenarios,
            agents=bool(self.driver.agent),
            histories=self.takes_history,
            states=self.states,
        )
        variants = (self.variant,) if self.variant else self.variants
        every = [(scenario, variant) for scenario in loaded for variant in variants]
        return tuple([(scenario, variant) for scenario, variant in every if variant in scenario.variants])

    @property
    def selection(self) -> Selection:
        """Return how many cases the plan has of how many."""
        by = [f"--scenario {quote(each)}" for each in self.scenarios]
        by += [f"--variant {self.variant}"] if self.variant else []
        every = replace(self, scenarios=(), variant="").cases
        return Selection(len(self.cases), len(every), by=tuple(by) if len(self.cases) < len(every) else ())


def plan_for(definition: AdapterDefinition, provider: str, driver: Driver) -> RunPlan:
    """Return the plan of all cases of an adapter with one of its providers, or with a profile that extends one."""
    provider = naming.reference(provider)
    named = provider.removesuffix(f".{definition.protocol}")
    if not profiles.is_path(provider) and named not in (*definition.models, *profiles.installed_names()):
        raise UnknownName(f"provider of {definition.name}", provider, definition.providers)
    profile = on_wire(profiles.load_profile(provider), definition.protocol)
    known = next((each for each in (profile.service, *profile.extends) if each in definition.models), None)
    if known is None:
        raise UnknownName(f"provider of {definition.name}", profile.service, definition.providers)
    # A profile of one's own names its model; those of the definition are of shipped providers.
    model = profile.model if profile.extends else definition.models[known]
    name = f"{definition.name}@{definition.version}" if definition.version else definition.name
    return RunPlan(
        name,
        driver,
        profile,
        model,
        variants=definition.variants,
        takes_history=definition.takes_history,
        history_as_given=bool(definition.history_as_given),
        states=definition.states,
    )


def begun(plan: RunPlan) -> Results:
    """Return the results of a plan that was not run: they stand in the file until it is, in case it is killed."""
    record = RunRecord(
        package_version(), "", plan.profile.wire, selection=plan.selection, ended="the run goes on, or it was killed"
    )
    return Results(plan.name, plan.model or plan.profile.model, (), plan.provider, run=record)


def run(plan: RunPlan, jobs: int, on_case: OnCase, on_network: OnNetwork) -> tuple[Results, tuple[CaseRun, ...]]:
    """Run a plan with a number of drivers at a time, and return the results and each case, in the plan's order.

    Raises Unusable if the model to ask for is unknown, or if there is no case to run.
    """
    profile = plan.profile
    setup = AdapterSetup(plan.driver, profile, plan.model or profile.model, plan.strict, plan.history_as_given)
    if not setup.model:
        raise Unusable(f"{profile.title} has no default model; name one with --model")
    cases = plan.cases
    if not cases:
        variants = plan.variant or ", ".join(plan.variants)
        raise Unusable(f"none of the chosen scenarios has these variants on this wire: {variants}")
    with (
        _network(plan, on_network) as network,
        serving_sessions(network.listener) as server,
        ThreadPoolExecutor(max(1, jobs)) as pool,
        # Closed before the pool, which waits for the threads that wait for drivers.
        processes.Children() as children,
    ):
        surroundings = Surroundings(children, network.namespaces)
        futures = [pool.submit(run_case, server, *case, setup, surroundings) for case in cases]
        try:
            for done, future in enumerate(as_completed(futures), 1):
                on_case(future.result(), done, len(cases))
        finally:
            # After an error or Ctrl-C, cases that wait must not start any more.
            for future in futures:
                future.cancel()
    # In the order of the plan, not in that in which the cases ended.
    runs = _with_requests(_without_repeats([future.result() for future in futures]))
    versions = next((case_run.versions for case_run in runs if case_run.versions), {})
    sent = ExchangesDigest()
    for exchange in [each for case_run in runs for each in case_run.conversation]:
        sent.add(digest(exchange))
    played = tuple([each.case for each in runs])
    record = replace(begun(plan).run, requests=sent.count, exchanges=sent.hexdigest(), ended="")
    return Results(plan.name, setup.model, played, plan.provider, versions, run=record), runs


@contextmanager
def _network(plan: RunPlan, on_network: OnNetwork) -> Iterator[processes.LoopbackNetwork]:
    """Yield the network of the drivers: loopback only, unless the plan lets them use more or the system refuses."""
    if plan.driver.uses_network:
        yield processes.LoopbackNetwork()
        return
    with processes.loopback_network() as network:
        if network.reason:
            on_network(network.reason)
        yield network


def _with_requests(runs: Sequence[CaseRun]) -> tuple[CaseRun, ...]:
    """Return the runs, whose cases hold the requests that show what the adapter breaks."""
    cases = with_requests([each.case for each in runs], {each.case.name: each.conversation for each in runs})
    return tuple([replace(each, case=case) for each, case in zip(runs, cases, strict=True)])


def _without_repeats(runs: Sequence[CaseRun]) -> tuple[CaseRun, ...]:
    """Return the runs with one error for each variant that the driver never requests, and not one for each case."""
    sent = [case_run for case_run in runs if case_run.conversation]
    firsts: dict[str, CaseRun] = {}
    for variant in VARIANTS:
        same = [case_run for case_run in sent if case_run.case.variant == variant]
        if same and all(case_run.wrong_kind for case_run in same):
            firsts[variant] = same[0]
    return tuple([_as_repeat(case_run, firsts.get(case_run.case.variant)) for case_run in runs])


def _as_repeat(case_run: CaseRun, first: CaseRun | None) -> CaseRun:
    """Return a run without its error if it is the same as that of the first run of its variant."""
    if first is None or case_run is first or not case_run.wrong_kind:
        return case_run
    note = f"{NOT_PLAYED}: as in {first.case.name}, the driver requested the other kind of reply"
    return replace(case_run, case=replace(case_run.case, outcomes=(), note=note))


def results_path(folder: Path, plan: RunPlan) -> Path:
    """Return the path of the results of a plan in a folder."""
    return folder / f"{plan.name}.{plan.provider}.json"


def is_done(folder: Path, plan: RunPlan) -> bool:
    """Return whether a folder has the results of a whole run of a plan: every case, and none that errored."""
    target = results_path(folder, plan)
    if not target.is_file():
        return False
    try:
        # Results of a plan with chosen scenarios are partial, and done if they have its cases.
        results = read(target, [])
    except Unusable:
        return False
    names = {case.name for case in results.cases}
    wanted = {f"{scenario.name}.{variant}" for scenario, variant in plan.cases}
    return names == wanted and not any(map(_has_errored, results.cases))


def _has_errored(case: Case) -> bool:
    return any(outcome.status is Status.ERRORED for outcome in case.outcomes)


def write_recording(
    folder: Path, name: str, conversation: Conversation, about: Mapping[str, Any], scrubber: Scrubber | None = None
) -> Path:
    """Write the exchanges of a case to `<folder>/<name>.jsonl`, as `conformance check` reads them; return the path.

    Each line is one exchange with `about`: the provider that was simulated and the day whose claims applied. `scrubber`
    removes the secrets that the driver was given.
    """
    path = folder / f"{artifacts.file_name(name.replace('/', '-'))}.jsonl"
    lines = [orjson.dumps({"session": name, **about, **_record(exchange)}) for exchange in conversation]
    text = "".join([f"{line.decode()}\n" for line in lines])
    artifacts.write(path, (scrubber or Scrubber()).text(text), private=scrubber is not None)
    return path


def _record(translated: Exchange) -> dict[str, Any]:
    exchange = translated.as_received
    return {
        "request": exchange.request,
        "response": exchange.response,
        "status": exchange.status,
        "stream": exchange.streamed,
        "headers": {name: value for name, value in exchange.headers.items() if name in _RECORDED_HEADERS},
        "url": PATH if translated.native is None else f"/v1{by_name(translated.protocol).path(translated.request)}",
    }
