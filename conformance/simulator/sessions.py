"""Sessions: one run of one scenario by one client, played over HTTP and recorded whole.

The stage is one server for many sessions at once, told apart by their paths. The next accepted request of a session
gets the next turn of its script, whatever history it brings: clients delete, merge and reorder messages, and what they
did is to be judged afterwards, not guessed at in between.
"""

import itertools
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from conformance.documents import parse_json
from conformance.engine import check
from conformance.errors import InvalidDocument, Unusable
from conformance.profiles import UNKNOWN, Profile
from conformance.results import Outcome, Refusal
from conformance.scenarios import Scenario, Turn
from conformance.simulator import script
from conformance.simulator.refusals import first_refusal
from conformance.simulator.responder import Actor, exchanged, not_found
from conformance.transport.client import FAULT
from conformance.transport.server import Answered, Asked, serving
from conformance.wire.exchange import Conversation, Exchange

NOTHING_MORE: Final = Turn(says="There is nothing more.")
"""What is said beyond the end of a script."""

_PATH: Final = re.compile(r"/r/(?P<run>\d+)/s/(?P<scenario>[^/]+)(?P<rest>/.*)")
_ENDPOINT: Final = re.compile(r"(/v1)*/chat/completions/?")
_MODELS: Final = re.compile(r"(/v1)*/models(/.*)?")
_WITH_SWITCH: Final = (
    "thinking.refused-parameters", "thinking.fixed-parameters", "thinking.with-tool-choice", "thinking.with-tools",
    "thinking.with-required-tool-choice", "thinking.with-named-tool-choice", "request.prefill-while-thinking",
)  # fmt: skip
"""What is known of requests that switch thinking on, and cannot be held against one that does not."""

_SCRIPTED: Final = frozenset(
    {"tool-calls/required-choice-obeyed", "tool-calls/named-choice-obeyed", "tool-calls/no-parallel-when-disabled"}
)
"""Rules that replies break where a request demands what the script does not hold: the script decides."""


class Refused(NamedTuple):
    """A request that was refused: the number of its exchange, the rule that it breaks, and the answer to it."""

    exchange: int
    rule: str
    refusal: Refusal


@dataclass(slots=True)
class Session:
    """One run of a scenario; all that is read of it is what came so far.

    `variant` is what the client is to ask for; a reply is streamed where its request says so. `profile` is the one
    that the session is judged by: the provider's, wearing the scenario's claims, and thinking unless it never does.
    """

    scenario: Scenario
    profile: Profile
    variant: str
    model: str
    strict: bool
    base_url: str
    others: list[str] = field(default_factory=list)
    """Method and path of each request that was no request for a chat completion, and why where the path was right."""

    refusals: list[Refused] = field(default_factory=list)
    repeats: list[int] = field(default_factory=list)
    """The numbers of exchanges whose body equals the one before."""

    moments: list[tuple[float, float]] = field(default_factory=list)
    """For each exchange when it came and when its reply was ready, in seconds of a monotonic clock."""

    _exchanges: list[Exchange] = field(default_factory=list)
    _turns: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def exchanges(self) -> Conversation:
        """Return what passed so far, in the order in which it came."""
        return tuple(self._exchanges)

    @property
    def fault(self) -> str:
        """Return what the simulator itself did wrong, as it answered it; empty where it did nothing."""
        faults = [str(each.response) for each in self._exchanges if each.status == 500 and FAULT in str(each.response)]
        return faults[0] if faults else ""

    def answer(self, asked: Asked, path: str) -> Answered:
        """Return the reply to an HTTP request of this session, and keep both."""
        came = time.monotonic()
        actor = Actor(self.profile, _SCRIPTED.union(self.scenario.breaks))
        with self._lock:
            if asked.method == "GET" and _MODELS.fullmatch(path):
                return actor.models()
            if asked.method != "POST" or not _ENDPOINT.fullmatch(path):
                self.others.append(f"{asked.method} {path}")
                return not_found("this session answers POST <base URL>/chat/completions")
            body: Any = None
            try:
                body = parse_json(asked.body, "request body")
                words = "" if isinstance(body, dict) else "expected a JSON object as the request body"
            except InvalidDocument as error:
                words = str(error)
            if words:
                self.others.append(f"{asked.method} {path}: {words}")
                return actor.invalid({}, words)
            answered = self._reply(actor, body)
            self._exchanges.append(exchanged(body, answered, self._model(body), f"{self.base_url}/chat/completions"))
            self.moments.append((came, time.monotonic()))
            return answered

    def _reply(self, actor: Actor, body: dict[str, Any]) -> Answered:
        number = len(self._exchanges)
        is_repeated = bool(self._exchanges) and self._exchanges[-1].request == body
        if is_repeated:
            self.repeats.append(number)
        if self.strict:
            asked = Exchange.of_plain(request=body, model=self._model(body))
            outcomes = check((*self._exchanges, asked), self.profile)
            refusal = first_refusal(outcomes, number)
            if refusal is not None:
                self.refusals.append(Refused(number, _rule(outcomes, refusal), refusal))
                return actor.refuse(body, refusal)
        if not is_repeated or self._turns == 0:
            self._turns += 1
        turns = self.scenario.turns
        turn = turns[self._turns - 1] if self._turns <= len(turns) else NOTHING_MORE
        named = {**body, "model": self._model(body)}
        turn = script.possible(turn, named, self.scenario.tools)
        return actor.play(named, turn, actor.likeness(named, self._history()))

    def _history(self) -> list[dict[str, Any]]:
        """Return the messages before the present turn as the script has them, as far as a reply goes by them."""
        messages: list[dict[str, Any]] = []
        for turn in self.scenario.turns[: self._turns]:
            messages += [{"role": "tool", "content": result} for result in turn.results]
            messages += [] if turn.user is None else [{"role": "user", "content": turn.user}]
            calls = [{"function": {"name": name}} for name, _ in turn.calls]
            messages.append({"role": "assistant", "content": turn.says} | ({"tool_calls": calls} if calls else {}))
        return messages[:-1]

    def _model(self, body: Mapping[str, Any]) -> str:
        return body["model"] if isinstance(body.get("model"), str) else self.model


class Stage:
    """A loopback server with any number of sessions; `staged` makes one."""

    def __init__(self) -> None:
        """Make a stage without a session; it is to be served by `answer`."""
        self.url = ""
        self._sessions: dict[str, Session] = {}
        self._runs = itertools.count(1)

    def open(
        self, scenario: Scenario, profile: Profile, variant: str = "stream", model: str = "", *, strict: bool = False
    ) -> Session:
        """Return a new session; raises Unusable where the provider's claims rule the scenario out.

        It records and refuses nothing, unless it is strict: then it answers as the provider would.
        """
        model = model or profile.model
        unmet = scenario.unmet(profile.at(model))
        if unmet is not None:
            claimed = profile.at(model).get(unmet)
            raise Unusable(f"{scenario.name} cannot be played: {profile.name} claims {unmet} = {claimed!r}")
        run = str(next(self._runs))
        url = f"{self.url}/r/{run}/s/{scenario.name}/v1"
        session = Session(scenario, _worn(profile, model, scenario), variant, model, strict, url)
        self._sessions[run] = session
        return session

    def answer(self, asked: Asked) -> Answered:
        """Return the reply to any HTTP request, as the session says that its path names."""
        found = _PATH.fullmatch(asked.path.partition("?")[0])
        session = self._sessions.get(found["run"]) if found else None
        if found is None or session is None or session.scenario.name != found["scenario"]:
            return not_found("no session has this path")
        return session.answer(asked, found["rest"])


@contextmanager
def staged() -> Iterator[Stage]:
    """Serve a stage on a free port of the loopback interface and yield it."""
    stage = Stage()
    with serving(stage.answer) as stage.url:
        yield stage


def _worn(profile: Profile, model: str, scenario: Scenario) -> Profile:
    """Return the profile that a session is played and judged by.

    The model thinks there without being asked to, since few clients can be told to ask.
    """
    claims = dict(scenario.claims)
    if profile.at(model).get("thinking.mode", UNKNOWN) in (UNKNOWN, "default-off"):
        claims = {"thinking.mode": "default-on", **dict.fromkeys(_WITH_SWITCH, UNKNOWN), **claims}
    return profile.with_claims(claims)


def _rule(outcomes: Sequence[Outcome], refusal: Refusal) -> str:
    return next(outcome.rule for outcome in outcomes for finding in outcome.findings if finding.refusal is refusal)
