"""Sessions: one run of one scenario by one client over HTTP, recorded completely.

One server runs many sessions at once and tells them apart by their paths. The next accepted request of a session gets
the next turn of its script, whatever history it sends: clients delete, merge and reorder messages, and their requests
are checked afterwards.
"""

import itertools
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from conformance import wires
from conformance.documents import parse_json
from conformance.errors import InvalidDocument, Unusable
from conformance.profiles import UNKNOWN, Profile
from conformance.results import Refusal
from conformance.scenarios import Scenario, ScriptTurn
from conformance.simulator import script, wire_requests
from conformance.simulator.beside import answer_beside
from conformance.simulator.http import not_found, to_exchange
from conformance.simulator.repeats import asks_again
from conformance.simulator.responder import BROKEN_BY_SCRIPT, Responder
from conformance.simulator.store import ReplyStore
from conformance.simulator.strictness import first_violation
from conformance.transport.client import SIMULATOR_ERROR
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from conformance.wire.exchange import Conversation, Exchange
from conformance.wires import Wire
from conformance.wires.chat import PATH

AFTER_SCRIPT: Final = ScriptTurn(says="There is nothing more.")
"""The reply to requests after the end of a script."""

_PATH: Final = re.compile(r"/r/(?P<run>\d+)/s/(?P<scenario>[^/]+)(?P<rest>/.*)")
# Clients of Gemini append a version of their own to a base URL that ends with one.
_VERSION: Final = re.compile(r"(/v1(?:alpha|beta\d*)?(?=/))*")
_IF_THINKING: Final = (
    "thinking.refused-parameters", "thinking.fixed-parameters", "thinking.with-tool-choice", "thinking.with-tools",
    "thinking.with-required-tool-choice", "thinking.with-named-tool-choice", "request.prefill-while-thinking",
)  # fmt: skip
"""Claims about requests that switch thinking on; they do not apply to a request without the switch."""

_ADAPTIVE: Final = {"at": "/thinking/type", "equals": "adaptive", "thinks": True}
"""Where a request leaves it to the model whether to think, that of an agent does."""


class Rejection(NamedTuple):
    """A refused request: the number of its exchange, the rule that it breaks, and the refusal."""

    exchange: int
    rule: str
    refusal: Refusal


@dataclass(slots=True)
class ScenarioSession:
    """One run of a scenario, with everything that the client has sent so far.

    `variant` is what the client should request; a reply is streamed if its request says so. `profile` is the
    provider's with the claims of the scenario, and with thinking on by default if the model can think. Its wire is the
    only one that the session answers on.
    """

    scenario: Scenario
    profile: Profile
    variant: str
    model: str
    strict: bool
    base_url: str
    other_requests: list[str] = field(default_factory=list)
    """Method and path of each request that did not ask for a reply of the model, and the error in its body if any."""

    refusals: list[Rejection] = field(default_factory=list)
    repeats: list[int] = field(default_factory=list)
    """The numbers of the exchanges whose request body equals the one before."""

    times: list[tuple[float, float]] = field(default_factory=list)
    """For each exchange when the request arrived and when its reply was ready, in seconds of a monotonic clock."""

    _exchanges: list[Exchange] = field(default_factory=list)
    _turns: int = 0
    _turn: ScriptTurn = AFTER_SCRIPT
    _store: ReplyStore = field(default_factory=ReplyStore, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def exchanges(self) -> Conversation:
        """Return the exchanges so far, in order; those of another wire are translated, and hold what they were."""
        return wires.translate(tuple(self._exchanges))

    @property
    def fault(self) -> str:
        """Return the simulator's own error if it had one; empty if not."""
        responses = [str(each.response) for each in self._exchanges if each.status == 500]
        return next((text for text in responses if SIMULATOR_ERROR in text), "")

    def answer(self, request: HttpRequest, path: str) -> HttpReply:
        """Return the reply to an HTTP request of this session, and record both."""
        arrived = time.monotonic()
        responder = Responder(self.profile, BROKEN_BY_SCRIPT.union(self.scenario.breaks))
        plain, question, query = path.partition("?")
        served = plain[_VERSION.match(plain).end() :]  # type: ignore[union-attr]
        # One request after the other, because each takes the next turn of the script.
        with self._lock:
            beside = None if self._is_asking(request, served) else answer_beside(served, request, responder, self._wire)
            if beside is not None:
                return beside
            if not self._is_asking(request, served):
                self.other_requests.append(f"{request.method} {plain}")
                return not_found(f"this session answers POST <base URL>{self._endpoint}")
            body: Any = None
            try:
                body = parse_json(request.body, "request body")
                fault = "" if isinstance(body, dict) else "expected a JSON object as the request body"
            except InvalidDocument as error:
                fault = str(error)
            if fault:
                self.other_requests.append(f"{request.method} {plain}: {fault}")
                refusal = responder.invalid({}, fault)
                return wire_requests.refused(self._wire, served, refusal)
            url = f"{self.base_url}{served.rstrip('/')}{question}{query}"
            reply = self._on_wire(responder, body, url)
            self._keep(to_exchange(body, reply, self._model(body), url), arrived)
            return reply

    def _keep(self, exchange: Exchange, arrived: float) -> None:
        """Record an exchange whose request arrived at a time."""
        self._exchanges.append(exchange)
        self.times.append((arrived, time.monotonic()))

    def _is_asking(self, request: HttpRequest, path: str) -> bool:
        """Return whether a request is one for a reply of the model."""
        return request.method == "POST" and self._serves(path.rstrip("/"))

    def _serves(self, path: str) -> bool:
        return bool(self._wire.served.fullmatch(path))

    @property
    def _wire(self) -> Wire:
        return wires.by_name(self.profile.wire)

    @property
    def _endpoint(self) -> str:
        """Return what a client appends to the base URL."""
        return self._wire.path({"model": self.model})

    def _on_wire(self, responder: Responder, body: dict[str, Any], url: str) -> HttpReply:
        """Return the reply to a request, in the form of the session's wire."""
        is_repeated = bool(self._exchanges) and self._exchanges[-1].request == body
        if is_repeated:
            self.repeats.append(len(self._exchanges))
        return wire_requests.answer(
            self._wire,
            url,
            # Else a client could leave the history to the server, and scenarios are about what it sends itself.
            body if self.scenario.stores else {**body, "store": False},
            lambda translated, asked: self._reply(responder, translated, asked, is_repeated=is_repeated),
            (self._store, self.profile.at(self._model(body))) if self._wire.keeps_replies else None,
            lambda: self._turn.raw,
        )

    def _reply(
        self, responder: Responder, body: dict[str, Any], asked: wire_requests.Asked | None, *, is_repeated: bool
    ) -> HttpReply:
        """Return the reply to a request of chat completions; `asked` is what it was on another wire."""
        rejected = self._rejected(responder, body, asked) if self.strict else None
        if rejected is not None:
            return rejected
        # A client that asks again gets the same turn: it has not had that one yet.
        if self._turns == 0 or not (is_repeated or self._asks_again(body)):
            self._turns += 1
        turns = self.scenario.turns
        turn = turns[self._turns - 1] if self._turns <= len(turns) else AFTER_SCRIPT
        self._turn = turn
        named = {**body, "model": self._model(body)}
        turn = script.adapted(turn, named, self.scenario.tools)
        if isinstance(body.get("messages"), list):
            turn = script.with_results(turn, body["messages"], self.profile.at(self._model(body)))
        return responder.reply(named, turn, responder.context(named, self._history()))

    def _rejected(
        self, responder: Responder, body: dict[str, Any], asked: wire_requests.Asked | None
    ) -> HttpReply | None:
        """Return the refusal of a strict provider, which is noted; None if it accepts the request."""
        native = None if asked is None else asked.native
        exchange = Exchange.of_plain(request=body, url=PATH, model=self._model(body), native=native)
        violation = first_violation((*self.exchanges, exchange), self.profile)
        if violation is None:
            return None
        reply = responder.reject(body if native is None else native.request, violation)
        refusal = violation.refusal or Refusal(reply.status, violation.finding.message)
        self.refusals.append(Rejection(len(self._exchanges), violation.rule, refusal))
        return reply

    def _asks_again(self, body: Mapping[str, Any]) -> bool:
        """Return whether a request, as chat completions, asks again for the current turn, which was truncated."""
        if not asks_again(self._turn, self.exchanges[-1], body, self.scenario.prompts):
            return False
        self.repeats.append(len(self._exchanges))
        return True

    def _history(self) -> list[dict[str, Any]]:
        """Return the messages before the current turn by the script, with what a reply depends on."""
        messages: list[dict[str, Any]] = []
        for turn in self.scenario.turns[: self._turns]:
            messages += [{"role": "tool", "content": result} for result in turn.results]
            messages += [] if turn.user is None else [{"role": "user", "content": turn.user}]
            calls = [{"function": {"name": name}} for name, _ in turn.calls]
            messages.append({"role": "assistant", "content": turn.says} | ({"tool_calls": calls} if calls else {}))
        return messages[:-1]

    def _model(self, body: Mapping[str, Any]) -> str:
        return body["model"] if isinstance(body.get("model"), str) else self.model


class SessionServer:
    """Any number of sessions at one URL; `serving_sessions` serves it on loopback."""

    def __init__(self) -> None:
        """Start without a session; `url` is set once `answer` is served."""
        self.url = ""
        self._sessions: dict[str, ScenarioSession] = {}
        self._runs = itertools.count(1)

    def open(
        self,
        scenario: Scenario,
        profile: Profile,
        variant: str = "stream",
        model: str = "",
        *,
        strict: bool = False,
        make: Callable[..., ScenarioSession] = ScenarioSession,
    ) -> ScenarioSession:
        """Return a new session; raises Unusable if the provider's claims rule the scenario out.

        It records and refuses nothing, unless it is strict: then it refuses what the provider refuses. `make` makes a
        session of another kind from the same arguments.
        """
        model = model or profile.model
        unmet = scenario.unmet(profile.at(model))
        if unmet is not None:
            claimed = profile.at(model).get(unmet)
            raise Unusable(f"{scenario.name} cannot be played: {profile.name} claims {unmet} = {claimed!r}")
        run = str(next(self._runs))
        url = f"{self.url}/r/{run}/s/{scenario.name}/v1"
        session = make(scenario, session_profile(profile, model, scenario), variant, model, strict, url)
        self._sessions[run] = session
        return session

    def answer(self, request: HttpRequest) -> HttpReply:
        """Return the reply to an HTTP request by the session that its path names."""
        found = _PATH.fullmatch(request.path)
        session = self._sessions.get(found["run"]) if found else None
        if found is None or session is None or session.scenario.name != found["scenario"]:
            return not_found("no session has this path")
        return session.answer(request, found["rest"])


@contextmanager
def serving_sessions(listener: socket.socket | None = None) -> Iterator[SessionServer]:
    """Serve sessions on a free loopback port, or on a socket that listens already, and yield their server."""
    server = SessionServer()
    with serving(server.answer, listener=listener) as server.url:
        yield server


def session_profile(profile: Profile, model: str, scenario: Scenario) -> Profile:
    """Return the profile that a session simulates and checks by.

    Its model thinks without being asked to, since few clients can be configured to ask. Whole agents ask by themselves.
    """
    claims = dict(scenario.claims)
    silent = (UNKNOWN,) if scenario.for_agents else (UNKNOWN, "default-off")
    if profile.at(model).get("thinking.mode", UNKNOWN) in silent:
        claims = {"thinking.mode": "default-on", **dict.fromkeys(_IF_THINKING, UNKNOWN), **claims}
    switches = profile.at(model).get("thinking.switches")
    if scenario.for_agents and isinstance(switches, list):
        claims["thinking.switches"] = [*switches, _ADAPTIVE]
    return profile.with_claims(claims)
