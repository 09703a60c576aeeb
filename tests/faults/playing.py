"""Plays a fault between the suite and the hidden provider, and says what the items of the suite report."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import pytest

from conformance import profiles, scenarios
from conformance.core_facts import core_facts
from conformance.errors import Unusable
from conformance.faults import Outgoing, ServerFault
from conformance.profiles import Profile
from conformance.results import Evidence, Verdict
from conformance.results.runs import Case
from conformance.scenarios import Scenario
from conformance.simulator.faulty import with_faults
from conformance.suite import test_probes, test_rules
from conformance.suite.options import on_wire
from conformance.suite.play import play, promised
from conformance.suite.pytest_config import RUN
from conformance.suite.turns import Subject
from conformance.transport.http import HttpReply, HttpRequest
from tests.faults.hidden import Hidden
from tests.in_process import InProcess

ENDED: Final = "ended"
ENDED_BY_MODEL: Final = "ended-by-model"
STOPPED: Final = "stopped"
CORE: Final = "core"
_NAMED: Final = re.compile(r"^(?: +(?:finding|found): *)?([a-z-]+/[a-z0-9-]+)(?: \(SHOULD\))?: ", re.MULTILINE)
_BROKEN: Final = "the wire is broken: "
_WARNED: Final = re.compile(r"([a-z-]+/[a-z0-9-]+) \(SHOULD\)")


class Report(NamedTuple):
    """What the items of one case report: causes by which they fail, and what they only warn of."""

    failed: frozenset[str]
    warned: frozenset[str]


class Played(NamedTuple):
    """The cases of a fault: what each reports, themselves, whether any reply was changed, and what stopped the run."""

    reports: Mapping[str, Report]
    cases: Sequence[Case]
    changed: bool
    stopped: str = ""


class Server:
    """A server with a fault, in some variants, over all cases of a run; `hidden` answers in the case that is played."""

    def __init__(self, fault: ServerFault, variants: Sequence[str]) -> None:
        self.has_changed = False
        self.hidden: Callable[[HttpRequest], HttpReply] | None = None
        self._fault, self._variants = fault, variants
        watched: Any = SimpleNamespace(apply=self._change)
        self.answer = with_faults(self._answer, [watched])

    def _answer(self, request: HttpRequest) -> HttpReply:
        assert self.hidden is not None
        return self.hidden(request)

    def _change(self, sent: Outgoing) -> Outgoing:
        if sent.status == 200 and sent.variant not in self._variants:
            return sent
        made = self._fault.apply(sent)
        self.has_changed |= made.differs(sent)
        return made


@dataclass(frozen=True)
class Provider:
    """A provider on one wire, played by the simulator with the script hidden."""

    served: Profile
    profile: Profile
    clean: dict[tuple[str, bytes], HttpReply]

    @cached_property
    def claims(self) -> Mapping[str, Any]:
        """The claims about its model."""
        return self.profile.at(self.profile.model, "")

    @cached_property
    def scenarios(self) -> Sequence[Scenario]:
        """The scenarios of a whole run that the claims allow, those with the fewest requests first."""
        every = [scenarios.load(name) for name in scenarios.names()]
        played = [each for each in every if not each.for_clients and each.unmet(self.claims) is None]
        return sorted(played, key=lambda each: len(each.probes))

    def case(self, scenario: Scenario, variant: str, server: "Server | None" = None) -> Case:
        """Return a case that is played with a server; without one, with a good one. Raises Unusable."""
        clean = {} if self.profile.wire == "responses" else self.clean
        answer: Callable[[HttpRequest], HttpReply] = Hidden(self.served, clean).answer
        if server is not None:
            server.hidden, answer = answer, server.answer
        with InProcess(answer, self.profile.wire) as client:
            return play(scenario, variant, Subject(self.profile, self.profile.model, client.send, Evidence.LIVE))

    @cached_property
    def clean_cases(self) -> Mapping[str, Case]:
        """The cases of a whole run without faults, by name."""
        cases = [self.case(each, variant) for each in self.scenarios for variant in each.variants]
        return {case.name: case for case in cases}

    def report(self, case: Case) -> Report:
        """Return what the items of the suite report of a case, as pytest collects them."""
        warned: set[str] = set()

        def record(kwargs: Mapping[str, Any]) -> None:
            warned.update(_WARNED.findall(str(kwargs["warning_message"].message)))

        hook = SimpleNamespace(pytest_warning_recorded=SimpleNamespace(call_historic=record))
        config = SimpleNamespace(stash={RUN: _Run(self.profile)}, hook=hook)
        request = SimpleNamespace(config=config, node=SimpleNamespace(config=config, path="suite", nodeid="item"))
        failed = [cause for item in self._items(case, request) if case.outcomes for cause in _causes(item)]
        return Report(frozenset(failed), frozenset(warned))

    def _items(self, case: Case, request: Any) -> Iterator[Callable[[], object]]:
        scenario = scenarios.load(case.scenario)
        yield lambda: test_rules.test_scenario_is_played_to_its_end(case, request)
        yield lambda: test_rules.test_no_other_rule_is_broken(case, request)
        for rule in promised(scenario, case.variant, self.profile.wire):
            yield lambda rule=rule: test_rules.test_rule(case, rule, request)  # type: ignore[misc]
        for probe in scenario.probes:
            yield lambda probe=probe: test_probes.test_probe(case, probe.name, request)  # type: ignore[misc]

    def core(self, cases: Iterable[Case], *, is_red: bool) -> Iterator[str]:
        """Yield the core facts that fail a run: those that were not tested, and in a red run those that break."""
        for fact in core_facts(tuple(cases), self.claims):
            if fact.verdict is Verdict.UNTESTED or (fact.verdict is Verdict.BREAKS and is_red):
                yield f"{CORE}/{fact.name}"


@cache
def provider(text: str) -> Provider:
    """Return the provider that a text names: `openai/responses`, or `deepseek` for the first wire of its profile."""
    name, _, wire = text.partition("/")
    served = profiles.load_profile(name)
    return Provider(served, on_wire(served, wire), {})


class _Run:
    """What the suite's items need of a run: no failure is expected."""

    def __init__(self, profile: Profile) -> None:
        self.profile, self.options = profile, SimpleNamespace(strict=False)

    def expected_failure(self, _case: Case, _name: str) -> str:
        return ""

    def unexpected_pass(self, _case: Case, _name: str) -> str:
        return ""


def _causes(item: Callable[[], object]) -> Iterator[str]:
    try:
        item()
    except pytest.fail.Exception as error:
        text = str(error)
        named = _NAMED.findall(text)
        yield from named
        if text.startswith(_BROKEN):
            yield f"{ENDED}: {text.removeprefix(_BROKEN).partition(chr(10))[0]}"
        elif not named:
            yield f"{ENDED_BY_MODEL}: {text.partition(chr(10))[0]}"
    except pytest.skip.Exception:
        pass


def through(
    subject: Provider, fault: ServerFault, variants: Sequence[str], is_enough: Callable[[Report], bool]
) -> Played:
    """Play a fault in some variants, until a case reports what is enough; clean cases are not played again."""
    reports: dict[str, Report] = {}
    cases = dict(subject.clean_cases)
    server, changed = Server(fault, variants), False
    for scenario in subject.scenarios:
        for each in scenario.variants:
            # A scenario of one variant may send its requests in the other one, too.
            if each not in variants and len(scenario.variants) > 1:
                continue
            server.has_changed = False
            try:
                case = subject.case(scenario, each, server)
            except Unusable as error:
                return Played(reports, list(cases.values()), changed=True, stopped=str(error))
            changed |= server.has_changed
            cases[case.name] = case
            reports[case.name] = subject.report(case) if server.has_changed else Report(frozenset(), frozenset())
            if is_enough(reports[case.name]):
                return Played(reports, list(cases.values()), changed)
    return Played(reports, list(cases.values()), changed)
