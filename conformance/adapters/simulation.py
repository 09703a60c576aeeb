"""A simulated provider for the tests of a client: where to send requests, what to ask, and how the client did."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from conformance import wires
from conformance.adapters.case import CaseRun, check_session, client_session, wrong_reply_kind
from conformance.adapters.job import API_KEY, job_of
from conformance.adapters.loop import ANSWERED, DriverAnswer, LoopEvent, RaisedError, parse_arguments
from conformance.adapters.summary import FAILING, grade, summary
from conformance.results import Evidence, Level, Outcome, Status
from conformance.results.excerpts import with_excerpts
from conformance.results.runs import Case, Results
from conformance.simulator.sessions import ScenarioSession
from conformance.wire.exchange import Conversation

Render: TypeAlias = Callable[[Mapping[str, Any]], Iterable[str]]
"""Returns the text of a summary."""


_BROKEN: Final = ("errored", "fails")

_UNASKED: Final = (
    "The test did not call assert_conformant(), and what the client sent breaks a MUST; to leave it unchecked, use "
    "check=False."
)


class ToolError(Exception):
    """Raised by a tool that fails in the scenario."""


@dataclass(frozen=True, slots=True)
class SimulatedTool:
    """A function that the model may call.

    `parameters` is the JSON Schema of its arguments. `events` gets an entry when a call starts and when it ends.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    results: Sequence[Mapping[str, Any]]
    otherwise: str
    events: list[LoopEvent]

    def run(self, arguments: Any = None) -> str:
        """Return the result for arguments (an object or its JSON text), after its delay; raises ToolError."""
        behaviour = self._behaviour(arguments)
        with self._recorded(arguments):
            # Blocks on purpose: this is the tool that a client must run in a thread to stay parallel.
            time.sleep(behaviour["delay_ms"] / 1000)
        return self._text(behaviour)

    async def arun(self, arguments: Any = None) -> str:
        """Return the same as `run` without blocking other tools."""
        behaviour = self._behaviour(arguments)
        with self._recorded(arguments):
            await asyncio.sleep(behaviour["delay_ms"] / 1000)
        return self._text(behaviour)

    def denies(self, arguments: Any = None) -> str | None:
        """Return the user's reason for denying this call, or None; for clients that ask for approval."""
        behaviour = self._behaviour(arguments)
        self.events.append(LoopEvent("asked", ((self.name, _parsed(arguments)),), 1000 * time.monotonic()))
        return str(behaviour["text"]) if behaviour["denied"] else None

    @property
    def definition(self) -> dict[str, Any]:
        """Return the tool as an entry of a request's `tools`."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}

    def _behaviour(self, arguments: Any) -> Mapping[str, Any]:
        parsed = _parsed(arguments)
        otherwise = {"text": self.otherwise, "delay_ms": 0, "fails": False, "denied": False}
        # By the arguments, so that results are right in any order of calls.
        return next((result for result in self.results if result["arguments"] == parsed), otherwise)

    @contextmanager
    def _recorded(self, arguments: Any) -> Iterator[None]:
        call = (self.name, _parsed(arguments))
        self.events.append(LoopEvent("start", (call,), 1000 * time.monotonic()))
        try:
            yield
        finally:
            self.events.append(LoopEvent("end", (call,), 1000 * time.monotonic()))

    def _text(self, behaviour: Mapping[str, Any]) -> str:
        if behaviour["fails"]:
            raise ToolError(behaviour["text"])
        return str(behaviour["text"])


@dataclass(frozen=True, slots=True)
class Simulation:
    """One scenario played by one provider: all that a client needs to go through it, and the verdict.

    `base_url` ends with `/v1`; requests go to `<base_url>/chat/completions`, or to the path of the wire that is
    simulated, which some SDKs append with a version of their own: `<base_url>/v1/messages` is the same. The `prompts`
    are sent in one conversation, each after the final answer to the previous one, with `system` before them unless it
    is empty. `job` is the same as a document for drivers (schemas/files/adapter-job.json).
    """

    session: ScenarioSession
    job: dict[str, Any]
    tools: tuple[SimulatedTool, ...]
    events: list[LoopEvent]
    render: Render = field(repr=False)
    verdicts: list[tuple[Outcome, ...]] = field(default_factory=list, repr=False)
    """The verdicts so far; without one, nobody has looked at what the client did."""

    @property
    def base_url(self) -> str:
        """Return the base URL for the client's requests."""
        return self.session.base_url

    @property
    def api_key(self) -> str:
        """Return a key for clients that insist on one."""
        return API_KEY

    @property
    def model(self) -> str:
        """Return the model to ask for."""
        return self.session.model

    @property
    def stream(self) -> bool:
        """Return whether the client should ask for event streams."""
        return self.session.variant == "stream"

    @property
    def system(self) -> str:
        """Return the system prompt; empty if there is none."""
        return self.session.scenario.system

    @property
    def prompts(self) -> tuple[str, ...]:
        """Return the user's messages, in order."""
        return self.session.scenario.prompts

    @property
    def protocol(self) -> str:
        """Return the wire: chat, messages, responses or gemini."""
        return self.session.profile.wire

    @property
    def tool_definitions(self) -> Any:
        """Return `tools` of a request on the wire that is simulated: all tools in its own form."""
        wire = wires.by_name(self.protocol)
        asked = {"model": self.model, "messages": [], "tools": [tool.definition for tool in self.tools]}
        return wire.write(asked)["tools"] if self.tools else []

    @property
    def exchanges(self) -> Conversation:
        """Return the requests received so far, with the replies to them."""
        return self.session.exchanges

    def verdict(
        self, texts: Sequence[str | None] | None = None, error: BaseException | None = None
    ) -> tuple[Outcome, ...]:
        """Return one outcome for each rule about clients and each loop fact.

        `texts` are the client's final texts, one for each prompt; `error` is what it raised. Without either, its
        answers are not checked.
        """
        raised = None if error is None else RaisedError(type(error).__name__, str(error))
        # An error ends the answers: the ones that are missing are then judged as missing.
        answered = tuple(texts or ()) if texts is not None or error is not None else None
        return self.verdict_on(DriverAnswer(answered, raised, events=tuple(self.events)))

    def verdict_on(self, answer: DriverAnswer) -> tuple[Outcome, ...]:
        """Return the same as `verdict` for the answer of a driver, which reports its own events."""
        self.verdicts.append(self._judged(answer))
        return self.verdicts[-1]

    def _judged(self, answer: DriverAnswer) -> tuple[Outcome, ...]:
        if self.session.fault:
            return (Outcome(ANSWERED, Status.ERRORED, Level.MUST, reason=self.session.fault),)
        advice = f"use stream={not self.stream} if it cannot do that"
        reason = wrong_reply_kind(self.session, "the client", advice)
        if reason:
            return (Outcome(ANSWERED, Status.UNTESTED, Level.MUST, reason=reason),)
        return check_session(client_session(self.session, self.job, answer), self.session.profile)

    def assert_conformant(
        self,
        texts: Sequence[str | None] | None = None,
        error: BaseException | None = None,
        *,
        warnings: bool = False,
    ) -> None:
        """Raise AssertionError with each violation, the request that shows it and how to fix it.

        Fails on a violated MUST and on anything promised but not tested; with `warnings`, also on a violated SHOULD.
        """
        # pytest then shows the line of the test, not this one.
        __tracebackhide__ = True
        bad = {*FAILING, *(["warns"] if warnings else [])}
        failing = tuple([outcome for outcome in self.verdict(texts, error) if grade(outcome) in bad])
        if failing:
            raise AssertionError(self.report(failing))

    def assert_nothing_broken(self) -> None:
        """Raise AssertionError if the requests break a MUST; does nothing if no request came or a verdict was taken.

        It is what the fixture does at the end of a test: answers that nobody handed over cannot be checked.
        """
        __tracebackhide__ = True
        if self.verdicts or not self.exchanges:
            return
        answer = DriverAnswer(None, None, events=tuple(self.events))
        outcomes = check_session(client_session(self.session, self.job, answer), self.session.profile)
        broken = tuple([outcome for outcome in outcomes if grade(outcome) in _BROKEN])
        if broken:
            raise AssertionError(f"{_UNASKED}\n{self.report(broken)}")

    def results(self, outcomes: tuple[Outcome, ...], subject: str = "the client") -> Results:
        """Return outcomes as the results of one case, under the name of the client."""
        session = self.session
        case = Case(session.scenario.name, session.variant, Evidence.SIMULATED, outcomes)
        return Results(subject, session.model, (case,), session.profile.name)

    def report(self, failing: tuple[Outcome, ...]) -> str:
        """Return the report on some outcomes: each violation, the request that shows it and how to fix it."""
        results = self.results(with_excerpts(failing, self.exchanges))
        runs = [CaseRun(case, self.exchanges) for case in results.cases]
        return "".join(self.render(summary(results, runs, strict=self.session.strict)))


def simulation(session: ScenarioSession, render: Render) -> Simulation:
    """Return a session for a client's own test."""
    job = job_of(session)
    events: list[LoopEvent] = []
    tools = tuple([SimulatedTool(**tool, events=events) for tool in job["tools"]])
    return Simulation(session, job, tools, events, render)


def _parsed(arguments: Any) -> Any:
    return parse_arguments(arguments) if isinstance(arguments, str) else dict(arguments or {})
