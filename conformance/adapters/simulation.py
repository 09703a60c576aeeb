"""A provider to test a client against, in the client's own tests: where to send, what to ask, what came of it."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from conformance.adapters.case import Run, disobeyed, played
from conformance.adapters.check import outcomes
from conformance.adapters.job import API_KEY, job
from conformance.adapters.loop import ANSWERED, Answer, Event, Raised, parsed
from conformance.adapters.summary import FAILING, grade, summary
from conformance.results import Case, Evidence, Level, Outcome, Results, Status
from conformance.results.excerpts import quoted
from conformance.simulator.sessions import Session
from conformance.wire.exchange import Conversation

Render: TypeAlias = Callable[[Mapping[str, Any]], Iterable[str]]
"""Makes the text of a summary."""


class ToolError(Exception):
    """What a tool raises that the scenario lets fail."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call: how it is declared, and what it does.

    `parameters` is the JSON Schema of its arguments. `events` hears when it starts and ends.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    results: Sequence[Mapping[str, Any]]
    otherwise: str
    events: list[Event]

    def run(self, arguments: Any = None) -> str:
        """Return the result for arguments (an object, or its JSON text) after its delay; raises ToolError."""
        found = self._found(arguments)
        with self._noted(arguments):
            time.sleep(found["delay_ms"] / 1000)
        return self._text(found)

    async def arun(self, arguments: Any = None) -> str:
        """Return the same without keeping other tools waiting."""
        found = self._found(arguments)
        with self._noted(arguments):
            await asyncio.sleep(found["delay_ms"] / 1000)
        return self._text(found)

    def denies(self, arguments: Any = None) -> str | None:
        """Return the words with which the user denies this call, or None; for clients that ask before they run."""
        found = self._found(arguments)
        self.events.append(Event("asked", ((self.name, _given(arguments)),), 1000 * time.monotonic()))
        return str(found["text"]) if found["denied"] else None

    @property
    def definition(self) -> dict[str, Any]:
        """Return the tool as it stands in a request's `tools`."""
        declared = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": declared}

    def _found(self, arguments: Any) -> Mapping[str, Any]:
        given = _given(arguments)
        otherwise = {"text": self.otherwise, "delay_ms": 0, "fails": False, "denied": False}
        return next((each for each in self.results if each["arguments"] == given), otherwise)

    @contextmanager
    def _noted(self, arguments: Any) -> Iterator[None]:
        call = (self.name, _given(arguments))
        self.events.append(Event("start", (call,), 1000 * time.monotonic()))
        try:
            yield
        finally:
            self.events.append(Event("end", (call,), 1000 * time.monotonic()))

    def _text(self, found: Mapping[str, Any]) -> str:
        if found["fails"]:
            raise ToolError(found["text"])
        return str(found["text"])


@dataclass(frozen=True, slots=True)
class Simulation:
    """One scenario played by one provider: all that a client needs to go through it, and the verdict.

    `base_url` ends with `/v1`; requests go to `<base_url>/chat/completions`. `prompts` are what the user says, each
    after the final answer to the one before, in one conversation, with `system` before them where it is not empty.
    """

    session: Session
    given: Mapping[str, Any]
    tools: tuple[Tool, ...]
    events: list[Event]
    render: Render = field(repr=False)

    @property
    def base_url(self) -> str:
        """Return where the client is to send its requests."""
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
        """Say whether the client is to ask for event streams."""
        return self.session.variant == "stream"

    @property
    def system(self) -> str:
        """Return the system prompt; empty where there is none."""
        return self.session.scenario.system

    @property
    def prompts(self) -> tuple[str, ...]:
        """Return what the user says, in order."""
        return self.session.scenario.prompts

    @property
    def job(self) -> dict[str, Any]:
        """Return all of this as a driver is given it (schemas/files/adapter-job.json)."""
        return dict(self.given)

    @property
    def exchanges(self) -> Conversation:
        """Return the requests that came so far and the replies to them."""
        return self.session.exchanges

    def verdict(
        self, texts: Sequence[str | None] | None = None, error: BaseException | None = None
    ) -> tuple[Outcome, ...]:
        """Return one outcome for each rule about clients and each fact about loops.

        `texts` are the final texts that the client gave, one a prompt, `error` is what it raised; without them nothing
        is said of its answers.
        """
        raised = None if error is None else Raised(type(error).__name__, str(error))
        told = tuple(texts or ()) if texts is not None or error is not None else None
        answer = Answer(told, raised, events=tuple(self.events))
        if self.session.fault:
            return (Outcome(ANSWERED, Status.ERRORED, Level.MUST, reason=self.session.fault),)
        reason = disobeyed(self.session, "the client")
        if reason:
            return (Outcome(ANSWERED, Status.UNTESTED, Level.MUST, reason=reason),)
        return outcomes(played(self.session, self.given, answer), self.session.profile)

    def assert_conformant(
        self,
        texts: Sequence[str | None] | None = None,
        error: BaseException | None = None,
        *,
        warnings: bool = False,
    ) -> None:
        """Raise AssertionError with what is wrong, the request that proves it and how to fix it.

        A MUST that is broken is wrong, and what was promised and not tested; with `warnings` so is a SHOULD.
        """
        __tracebackhide__ = True
        found = self.verdict(texts, error)
        bad = {*FAILING, *(["warns"] if warnings else [])}
        wrong = tuple([outcome for outcome in found if grade(outcome) in bad])
        if wrong:
            raise AssertionError(self._told(wrong))

    def _told(self, wrong: tuple[Outcome, ...]) -> str:
        session = self.session
        wrong = quoted(wrong, session.exchanges)
        case = Case(session.scenario.name, session.variant, Evidence.SIMULATED, wrong)
        results = Results("the client", session.model, (case,), session.profile.name)
        return "".join(self.render(summary(results, [Run(case, session.exchanges)], strict=session.strict)))


def simulation(session: Session, render: Render) -> Simulation:
    """Return a session as a client's own test has it."""
    given = job(session)
    events: list[Event] = []
    tools = tuple([Tool(**tool, events=events) for tool in given["tools"]])
    return Simulation(session, given, tools, events, render)


def _given(arguments: Any) -> Any:
    return parsed(arguments) if isinstance(arguments, str) else dict(arguments or {})
