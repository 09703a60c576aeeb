"""Serves a fault to a client: sessions of the simulator in which every reply that can have the fault has it.

For a fault of refusals, the first request of each body is refused with status 429, and answered when it is sent again.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from conformance import faults, processes, scenarios
from conformance.adapters.definition import AdapterDefinition
from conformance.adapters.driver import Driver, Surroundings
from conformance.adapters.job import job_of
from conformance.adapters.runs import plan_for
from conformance.faults import REFUSED, Outgoing, ServerFault
from conformance.profiles import Profile
from conformance.scenarios import Scenario
from conformance.simulator.faulty import with_faults
from conformance.simulator.sessions import ScenarioSession, SessionServer
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from tests.harm.outcomes import Outcome, Seen, outcome, seen
from tests.harm.workers import Worker

SCENARIOS: Final = ("parallel-tool-calls", "agent-session")
"""A fault is served in the first of these whose replies can have it; the first is the shorter."""

DIFFERS: Final = "it differs from run to run"

SECONDS: Final = 30.0
"""A client that has no answer after this time hangs; on healthy replies it takes seconds on a busy machine."""

BUSY: Final = "busy-once"
"""The fault that refuses requests, which faults of refusals change."""

_RUN: Final = re.compile(r"(/r/\d+)(/.*)")

Answer = Callable[[HttpRequest], HttpReply]


class FaultySessions(SessionServer):
    """Sessions of which each may have a fault; `changed` has those whose replies had it.

    `places` has the scenario whose replies can have a fault, or None if there is none, by fault, variant and provider:
    it is the same for all clients.
    """

    def __init__(self) -> None:
        """Start without a session."""
        super().__init__()
        self.changed: set[str] = set()
        self.places: dict[tuple[str, str, str], str | None] = {}
        self._faulty: dict[str, Answer] = {}

    def plant(self, session: ScenarioSession, fault: ServerFault | None, *, busy: bool) -> None:
        """Put a fault into the replies of a session; `busy`: requests are refused once."""
        run = session.base_url.removeprefix(self.url).partition("/s/")[0]

        def watched(sent: Outgoing) -> Outgoing:
            made = sent if fault is None else fault.apply(sent)
            if made.differs(sent):
                self.changed.add(session.base_url)
            return made

        watching: Any = _Watched(watched)
        answer = super().answer
        planted = [faults.load(BUSY), watching] if busy else [watching]
        self._faulty[run] = with_faults(lambda asked: answer(replace(asked, path=f"{run}{asked.path}")), planted)

    def answer(self, request: HttpRequest) -> HttpReply:
        """Return the reply to a request, with the fault of its session."""
        found = _RUN.fullmatch(request.path)
        faulty = self._faulty.get(found[1]) if found else None
        if found is None or faulty is None:
            return super().answer(request)
        return faulty(replace(request, path=found[2]))


@dataclass(frozen=True, slots=True)
class _Watched:
    apply: Callable[[Outgoing], Outgoing]


@dataclass(slots=True)
class Client:
    """An SDK that is loaded, and what it does on healthy replies, by scenario, variant, provider and kind of reply."""

    definition: AdapterDefinition
    worker: Worker
    server: FaultySessions
    seconds: float = SECONDS
    scenarios: tuple[str, ...] = SCENARIOS
    healthy: dict[tuple[str, str, str, str], Seen] = field(default_factory=dict)
    _models: dict[str, tuple[Profile, str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return name and version."""
        return f"{self.definition.name}@{self.definition.version}"

    def play(self, fault: ServerFault, variant: str) -> tuple[str, Outcome] | None:
        """Return the scenario in which a fault was served, and what it did; None if no reply can have it."""
        key = (fault.name, variant, self._profile(fault)[0].name)
        place, is_sound = self.server.places.get(key, ""), True
        for name in self.scenarios if place == "" else [] if place is None else [place]:
            scenario = scenarios.load(name)
            if scenario.unmet(self._profile(fault)[0].at(self._profile(fault)[1])) is not None:
                continue
            healthy = self.on_healthy(scenario, variant, fault)
            faulty, changed = self._talk(scenario, variant, fault, planted=True)
            if faulty.hung:
                # A machine can be so busy for a moment that it looks like a hang.
                faulty, changed = self._talk(scenario, variant, fault, planted=True)
            if changed:
                self.server.places[key] = name
                return name, outcome(healthy, faulty)
            is_sound &= not (faulty.error or faulty.hung)
        if is_sound:
            self.server.places.setdefault(key, None)
        return None

    def on_healthy(self, scenario: Scenario, variant: str, fault: ServerFault) -> Seen:
        """Return what the client does without the fault; raises Unmeasurable if it fails or differs each time.

        It may fail if it is refused, since not all clients try again.
        """
        key = (scenario.name, variant, self._profile(fault)[0].name, fault.on)
        if key not in self.healthy:
            first, second = [self._talk(scenario, variant, fault, planted=False)[0] for _ in range(2)]
            same = first.kind == second.kind and first == replace(second, error=first.error)
            self.healthy[key] = first if same else replace(first, error=DIFFERS)
        found = self.healthy[key]
        if found.hung or (found.error and (fault.on != REFUSED or found.error == DIFFERS)):
            raise Unmeasurable(f"on healthy replies of {key[0]} ({variant}): {found.error or 'it hangs'}")
        return found

    def _talk(self, scenario: Scenario, variant: str, fault: ServerFault, *, planted: bool) -> tuple[Seen, bool]:
        profile, model = self._profile(fault)
        session = self.server.open(scenario, profile, variant, model)
        busy = fault.on == REFUSED
        if planted or busy:
            self.server.plant(session, fault if planted else None, busy=busy)
        reported = self.worker.ask(job_of(session), self.seconds)
        return seen(reported, session.exchanges), session.base_url in self.server.changed

    def _profile(self, fault: ServerFault) -> tuple[Profile, str]:
        """Return the provider that the client talks to, and the model: the usual, or one that can have the fault."""
        usual = self.definition.providers[0]
        other = fault.at.get(self.definition.protocol, usual).partition("/")[0]
        named = other if other in self.definition.providers else usual
        if named not in self._models:
            plan = plan_for(self.definition, named, Driver(()))
            self._models[named] = plan.profile, plan.model or plan.profile.model
        return self._models[named]


class Unmeasurable(Exception):
    """Raised if a client does not work on healthy replies, so that nothing can be compared with them."""


@contextmanager
def surroundings() -> Iterator[tuple[FaultySessions, Surroundings]]:
    """Yield a server of sessions on loopback, and what workers run in: no network beyond it."""
    with processes.loopback_network() as network:
        server = FaultySessions()
        with (
            serving(server.answer, listener=network.listener) as server.url,
            processes.Children() as children,
        ):
            yield server, Surroundings(children, network.namespaces)
