"""What a run will send: every case is played against the simulator in process, and what it sends there is counted.

A real provider may be asked less, where it ends a scenario early; probes that find nothing to change are not sent.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from conformance.errors import Unusable
from conformance.profiles import Profile
from conformance.results import Evidence
from conformance.scenarios import Scenario
from conformance.simulator import Simulator
from conformance.simulator.usage import tokens
from conformance.suite.play import Subject, bound, play
from conformance.wire.exchange import Exchange


class Planned(NamedTuple):
    """One case: how many requests it sends, of which `probes` are probes, and about how many tokens they hold.

    `note` says why a case is not played.
    """

    case: str
    requests: int
    probes: int
    tokens: int
    note: str = ""


class Plan(NamedTuple):
    """What a run will send; `bound` is the most tokens that one reply may have."""

    provider: str
    model: str
    cases: tuple[Planned, ...]
    bound: int

    @property
    def requests(self) -> int:
        """Return how many requests there are in all."""
        return sum([case.requests for case in self.cases])

    @property
    def tokens(self) -> int:
        """Return about how many tokens the requests hold in all."""
        return sum([case.tokens for case in self.cases])

    def summary(self) -> str:
        """Return the plan in one line."""
        most = self.requests * self.bound
        return (
            f"{self.provider}, {self.model}: {self.requests} requests with about {self.tokens:,} tokens; "
            f"replies are bound to {self.bound:,} tokens each, {most:,} in all"
        )

    def lines(self) -> Iterator[str]:
        """Yield the plan as text: a line a case, and the summary."""
        width = max([len(case.case) for case in self.cases], default=0)
        for case in self.cases:
            sent = f"{case.requests:4} requests, {case.probes:3} of them probes, about {case.tokens:7,} tokens"
            yield f"  {case.case:{width}}  {case.note or sent}"
        yield self.summary()


def plan(profile: Profile, model: str, cases: Iterable[tuple[Scenario, str]]) -> Plan:
    """Return what these cases send to a model; nothing is sent anywhere."""
    planned = tuple([_planned(profile, model, scenario, variant) for scenario, variant in cases])
    return Plan(profile.name, model, planned, bound(profile))


def _planned(profile: Profile, model: str, scenario: Scenario, variant: str) -> Planned:
    sent: list[int] = []
    simulator = Simulator(profile)

    def send(body: Mapping[str, Any]) -> Exchange:
        sent.append(tokens(body))
        return simulator.send(body)

    note = ""
    try:
        case = play(scenario, variant, Subject(profile, model, send, Evidence.SIMULATED))
        note = case.note if not case.outcomes else ""
    except Unusable:
        # Against the simulator it ends here; how far a real provider goes cannot be known.
        note = f"at least {len(sent)} requests"
    turns = min(len(scenario.turns), len(sent))
    return Planned(f"{scenario.name}.{variant}", len(sent), len(sent) - turns, sum(sent), note)
