"""The strict provider: it refuses what its profile claims to be refused, and replies by the scenarios' scripts.

`/s/<scenario>/v1` plays one scenario; plain `/v1` knows a scenario by its user messages and answers any other request
too. Refusals come from the rule set, so that what `check` predicts and what a client is answered are one thing. It
keeps nothing between requests: what it must have replied to a scenario's earlier requests it can say again, and so it
sees what a client changed. `harness.sessions` records instead, and refuses nothing unless it is told to.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from conformance import scenarios
from conformance.documents import parse_json
from conformance.engine import check
from conformance.errors import InvalidDocument, UnknownName, Unusable
from conformance.profiles import Profile
from conformance.scenarios import Scenario
from conformance.simulator import replies, script
from conformance.simulator.refusals import first_refusal
from conformance.simulator.responder import Actor, exchanged, not_found
from conformance.transport.client import FAULT
from conformance.transport.server import Answered, Asked, serving
from conformance.wire.exchange import Conversation, Exchange

_ENDPOINT = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Simulator:
    """A provider played by its profile."""

    profile: Profile

    def answer(self, asked: Asked) -> Answered:
        """Return the reply to any HTTP request; never raises for what a client sends."""
        path = asked.path.partition("?")[0]
        actor = Actor(self.profile)
        if asked.method == "GET" and path.endswith("/models"):
            return actor.models()
        scenario = None
        if path.startswith("/s/"):
            name, _, rest = path.removeprefix("/s/").partition("/")
            path = f"/{rest}"
            try:
                scenario = scenarios.load(name)
            except UnknownName as error:
                return not_found(str(error))
        if asked.method != "POST" or path not in (_ENDPOINT, "/chat/completions"):
            text = f"this is a simulated chat completions endpoint; POST to {_ENDPOINT} or /s/<scenario>{_ENDPOINT}"
            return not_found(text)
        try:
            body = parse_json(asked.body, "request body")
        except InvalidDocument as error:
            return actor.invalid({}, str(error))
        if not isinstance(body, dict):
            return actor.invalid({}, "expected a JSON object as the request body")
        return self.reply(body, scenario)

    def send(self, body: Mapping[str, Any]) -> Exchange:
        """Return the exchange of one request, as a client would keep it that asks over HTTP.

        Raises Unusable where the simulator is at fault.
        """
        sent = exchanged(dict(body), self.reply(body), str(body.get("model", "")))
        if sent.status == 500 and FAULT in str(sent.response):
            raise Unusable(str(sent.response))
        return sent

    def reply(self, body: Mapping[str, Any], scenario: Scenario | None = None) -> Answered:
        """Return the reply to a request body: the claimed refusal, or the next turn of the script."""
        asked = Exchange.of_plain(request=body, model=str(body.get("model", "")))
        is_list = isinstance(body.get("messages"), list)
        played = (scenario or script.scenario_of(body)) if is_list else None
        actor = Actor(self.profile)
        if played is not None and played.for_clients:
            actor = Actor(self.profile.with_claims(played.claims), frozenset(played.breaks))
        before = _before(actor, body, played)
        refusal = first_refusal(check((*before, asked), actor.profile), len(before))
        if refusal is not None:
            return actor.refuse(body, refusal)
        if not is_list or not body["messages"]:
            return actor.invalid(body, "expected messages: a list with at least one message")
        claims = actor.profile.at(asked.model, "")
        if not script.is_met(body, claims):
            return actor.invalid(body, "tool_choice demands a call that no declared tool allows")
        return actor.play(body, script.due(body, played, claims), actor.likeness(body))


def _before(actor: Actor, body: Mapping[str, Any], played: Scenario | None) -> Conversation:
    """Return the exchanges that must have led to a request of a scenario; none where they cannot be known."""
    if played is None:
        return ()
    exchanges = []
    for asked in script.earlier(body):
        likeness = actor.likeness(asked)
        reply = replies.body(likeness, replies.message(likeness, script.due(asked, played, likeness.claims)))
        exchanges.append(Exchange.of_plain(asked, reply, 200, model=str(body.get("model", ""))))
    return tuple(exchanges)


@contextmanager
def simulated(profile: Profile, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve a provider's simulator in the background and yield its URL, without `/v1`."""
    with serving(Simulator(profile).answer, host, port) as url:
        yield url
