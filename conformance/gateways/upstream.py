"""The provider behind a gateway: a strict simulator on the wire of the back, which knows its cases by their nonces."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from conformance import wires
from conformance.documents import parse_json
from conformance.errors import InvalidDocument
from conformance.profiles import Profile
from conformance.scenarios import Scenario
from conformance.simulator.http import not_found, to_exchange
from conformance.simulator.responder import Responder
from conformance.simulator.sessions import ScenarioSession, session_profile
from conformance.transport.http import HttpReply, HttpRequest
from conformance.transport.server import serving
from conformance.wire.exchange import Conversation, Exchange, model_of
from conformance.wires import Wire, by_name

VERSION: Final = "/v1"

Answer = Callable[[Exchange, int], HttpReply]
"""Gives the reply to a request, translated, and the number of requests of the case before it."""


@dataclass(slots=True)
class Direct:
    """A case whose replies are given by a function, not by a script; it keeps what it received and sent."""

    answer: Answer
    wire: Wire
    exchanges_: list[Exchange] = field(default_factory=list)

    @property
    def exchanges(self) -> Conversation:
        """Return the exchanges so far, translated."""
        return wires.translate(tuple(self.exchanges_))

    def reply(self, body: dict[str, Any], path: str) -> HttpReply:
        """Return the reply to a request, and keep both."""
        url = f"http://upstream{VERSION}{path}"
        asked = Exchange.of_plain(body, url=url, model=model_of(body))
        number = len(self.exchanges_)
        # Became before it is answered, because an answer may be under way for long.
        self.exchanges_.append(asked)
        reply = self.answer(wires.translate((asked,))[0], number)
        self.exchanges_[number] = to_exchange(body, reply, model_of(body), url)
        return reply


class Upstream:
    """The provider; `url` is set while it is served. `strays` are requests that belong to no case."""

    def __init__(self, profile: Profile, model: str = "") -> None:
        """Play a provider on the wire of its profile."""
        self.profile, self.model = profile, model or profile.model
        self.wire = by_name(profile.wire)
        self.url = ""
        self.strays: list[str] = []
        self._cases: dict[str, ScenarioSession | Direct] = {}
        self._last = ""
        self._lock = threading.Lock()

    def open(self, nonce: str, scenario: Scenario, variant: str, *, strict: bool) -> ScenarioSession:
        """Return a new session of a scenario, which requests with the nonce belong to."""
        profile = session_profile(self.profile, self.model, scenario)
        session = ScenarioSession(scenario, profile, variant, self.model, strict, f"http://upstream{VERSION}")
        self._add(nonce, session)
        return session

    def open_direct(self, nonce: str, answer: Answer) -> Direct:
        """Return a new case whose replies a function gives."""
        direct = Direct(answer, self.wire)
        self._add(nonce, direct)
        return direct

    def _add(self, nonce: str, case: ScenarioSession | Direct) -> None:
        with self._lock:
            self._cases[nonce] = case
            self._last = nonce

    def answer(self, request: HttpRequest) -> HttpReply:
        """Return the reply to any request of the gateway."""
        path = self._served(request.path)
        plain = request.path.partition("?")[0]
        if request.method == "GET" and "/models" in plain:
            return Responder(self.profile).models()
        if path is None or request.method != "POST":
            self.strays.append(f"{request.method} {plain}")
            return not_found(f"this provider answers POST …{self.wire.path({'model': self.model})}")
        text = request.body.decode("utf-8", "replace")
        with self._lock:
            named = next((each for each in self._cases if each in text), self._last)
            case = self._cases.get(named)
        if case is None:
            self.strays.append(f"{request.method} {plain}")
            return not_found("no case is played")
        if isinstance(case, ScenarioSession):
            return case.answer(request, f"{VERSION}{path}")
        try:
            body = parse_json(request.body, "request body")
        except InvalidDocument as error:
            return Responder(self.profile).malformed(error, request.body)
        return case.reply(body, path) if isinstance(body, dict) else Responder(self.profile).invalid({}, "no object")

    def _served(self, whole: str) -> str | None:
        """Return the path of a request without what a gateway puts before it; None if it is not on the wire."""
        path, question, query = whole.partition("?")
        for start in [at for at, sign in enumerate(path) if sign == "/"]:
            if self.wire.served.fullmatch(path[start:]) and not path[start:].startswith(("/v1", "/openai")):
                return path[start:] + question + query
        return None


@contextmanager
def serving_upstream(profile: Profile, model: str = "", port: int = 0) -> Iterator[Upstream]:
    """Serve a provider on loopback and yield it."""
    upstream = Upstream(profile, model)
    with serving(upstream.answer, port=port) as upstream.url:
        yield upstream


def of_case(exchanges: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Return the exchanges of a case that ask for a reply."""
    return tuple([each for each in exchanges if isinstance(each.request, dict)])
