"""A run rehearsed against the simulator in process: how many requests it will send, and what would go wrong.

A real provider may get fewer requests if it ends a scenario early. Probes that find nothing to change are not sent. If
the run first asks whether the model thinks, the plan counts that question and assumes that the model does. It gets more
requests if replies are asked for again, to separate what the model does from what the host does.

What goes wrong against the simulator of a profile goes wrong with every provider. Claims that exclude each other show
as a reply that breaks a rule, or as an answer to a probe that is not the claimed one.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from conformance import scenarios
from conformance.errors import Unusable
from conformance.profiles import Profile
from conformance.results import Evidence, Status
from conformance.results.runs import Case
from conformance.scenarios import Scenario
from conformance.simulator import Simulator
from conformance.simulator.reply_context import tokens
from conformance.suite.comparisons import further_requests, most_repeats
from conformance.suite.failures import summary_of_probe, summary_of_rule
from conformance.suite.play import play
from conformance.suite.run_claims import assumed, question, with_switch
from conformance.suite.turns import Subject, max_reply_tokens
from conformance.wire.exchange import Exchange


class PlannedCase(NamedTuple):
    """One case: its number of requests, how many of them are probes, and their approximate number of tokens.

    `note` says why a case is not played. `repeats`: how many of the requests may be sent again at most.
    """

    case: str
    requests: int
    probes: int
    tokens: int
    note: str = ""
    repeats: int = 0


class Plan(NamedTuple):
    """What a run will send; `reply_tokens` is the token limit of one reply.

    `question` is the approximate number of tokens of the question whether the model thinks; 0 if it is not asked.
    """

    provider: str
    model: str
    cases: tuple[PlannedCase, ...]
    reply_tokens: int
    question: int = 0

    @property
    def requests(self) -> int:
        """Return the total number of requests."""
        return self.requests_of(1)

    @property
    def tokens(self) -> int:
        """Return the approximate total number of tokens in the requests."""
        return sum([case.tokens for case in self.cases]) + self.question

    def requests_of(self, runs: int) -> int:
        """Return the total number of requests if each case runs so many times; the question is asked once."""
        return sum([case.requests for case in self.cases]) * runs + bool(self.question)

    @property
    def most_requests(self) -> int:
        """Return the total number of requests if each reply that can be asked for again is."""
        return self.requests + sum([case.repeats for case in self.cases])

    @property
    def most_tokens(self) -> int:
        """Return the approximate total number of tokens in that many requests."""
        return self.tokens + sum([case.repeats * case.tokens // max(case.requests, 1) for case in self.cases])

    def summary(self) -> str:
        """Return the plan in one line."""
        limit = self.most_requests * self.reply_tokens
        requests, tokens = f"{self.requests}", f"about {self.tokens:,}"
        if self.question:
            requests, tokens = f"at most {self.most_requests}", f"about {self.most_tokens:,}"
        elif self.most_requests > self.requests:
            requests, tokens = f"{requests} to {self.most_requests}", f"{tokens} to {self.most_tokens:,}"
        return (
            f"{self.provider}, {self.model}: {requests} requests with {tokens} tokens; "
            f"replies are limited to {self.reply_tokens:,} tokens each, {limit:,} in total"
        )

    def lines(self) -> Iterator[str]:
        """Yield the plan as text: one line per case, and the summary."""
        width = max([len(case.case) for case in self.cases], default=0)
        if self.question:
            yield f"  {'thinking-question':{width}}     1 request, to see whether the model thinks"
        for case in self.cases:
            sent = f"{case.requests:4} requests, {case.probes:3} of them probes, about {case.tokens:7,} tokens"
            sent += f", at most {case.repeats} repeated" if case.repeats else ""
            yield f"  {case.case:{width}}  {case.note or sent}"
        yield self.summary()


def plan(
    profile: Profile,
    model: str,
    cases: Iterable[tuple[Scenario, str]],
    members: Mapping[str, Any] = MappingProxyType({}),
    *,
    asks: bool = False,
) -> Plan:
    """Return what these cases would send to a model; nothing is sent.

    `members` are added to every request. `asks`: the run first asks whether the model thinks.
    """
    if asks:
        profile = profile.with_claims(assumed(profile.at(model, "")))
    planned = tuple([_planned(profile, model, scenario, variant, members) for scenario, variant in cases])
    first = _planned(profile, model, question(), "plain", {}).tokens if asks else 0
    return Plan(profile.name, model, planned, max_reply_tokens(profile), first)


def _planned(profile: Profile, model: str, scenario: Scenario, variant: str, members: Mapping[str, Any]) -> PlannedCase:
    sent: list[int] = []
    simulator = Simulator(profile)

    def send(body: Mapping[str, Any]) -> Exchange:
        body = with_switch(body, members)
        sent.append(tokens(body))
        return simulator.send(body)

    note = ""
    try:
        case = play(scenario, variant, Subject(profile, model, send, Evidence.SIMULATED))
        note = case.note if not case.outcomes else ""
    except Unusable:
        # The simulator fails here; how far a real provider gets is unknown.
        note = f"at least {len(sent)} requests"
    turns = min(len(scenario.turns), len(sent))
    further = further_requests(scenario, turns)
    repeats = most_repeats(scenario) if sent else 0
    return PlannedCase(f"{scenario.name}.{variant}", len(sent), len(sent) - turns - further, sum(sent), note, repeats)


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
