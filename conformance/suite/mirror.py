"""The suite against the simulator of a profile: what goes wrong there, no provider could pass.

Claims that exclude each other show here as a reply that breaks a rule, or as an answer to a probe that is not the
claimed one.
"""

from collections.abc import Iterator

from conformance import scenarios
from conformance.errors import Unusable
from conformance.profiles import Profile
from conformance.results import Evidence, Status
from conformance.results.runs import Case
from conformance.simulator import Simulator
from conformance.suite.failures import summary_of_probe, summary_of_rule
from conformance.suite.play import Subject, play


def problems(profile: Profile) -> Iterator[str]:
    """Yield what the suite finds against the simulator of a profile, in one line each."""
    subject = Subject(profile, profile.model or "any-model", Simulator(profile).send, Evidence.SIMULATED)
    for scenario in map(scenarios.load, scenarios.names()):
        if scenario.for_clients or scenario.unmet(subject.claims) is not None:
            continue
        for variant in scenario.variants:
            try:
                yield from failures(play(scenario, variant, subject))
            except Unusable as error:
                yield f"{scenario.name}.{variant}: {error}"


def failures(case: Case) -> Iterator[str]:
    """Yield what fails in a case, in one line each: its early end alone, or its rules and probes."""
    if case.note:
        yield f"{case.name}: {case.note}"
        return
    yield from (f"{case.name}: {summary}" for each in case.outcomes if (summary := summary_of_rule(each)))
    yield from (
        f"{case.name}: {summary_of_probe(each)}"
        for each in case.probes
        if each.status in (Status.FAILED, Status.UNTESTED, Status.ERRORED)
    )
