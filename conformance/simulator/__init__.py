"""The simulated strict provider: it refuses what its profile says it refuses, and otherwise replies by a script.

`/s/<scenario>/v1` plays one scenario. `/v1` recognizes a scenario by its user messages, and answers any other request
as well. Refusals come from the rule set, so `check` predicts what a client gets. The simulator keeps no state: it
derives its earlier replies of a scenario again, and so notices what a client changed. `simulator.sessions` records
requests instead, and refuses none unless it is strict.
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
from conformance.simulator.responder import Responder, not_found, to_exchange
from conformance.transport.client import SIMULATOR_ERROR
from conformance.transport.server import HttpReply, HttpRequest, serving
from conformance.wire.exchange import Conversation, Exchange

_ENDPOINT = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Simulator:
    """A provider that behaves as its profile claims."""

    profile: Profile

    def answer(self, request: HttpRequest) -> HttpReply:
        """Return the reply to any HTTP request; never raises, whatever a client sends."""
        path = request.path.partition("?")[0]
        responder = Responder(self.profile)
        if request.method == "GET" and path.endswith("/models"):
            return responder.models()
        scenario = None
        if path.startswith("/s/"):
            name, _, rest = path.removeprefix("/s/").partition("/")
            path = f"/{rest}"
            try:
                scenario = scenarios.load(name)
            except UnknownName as error:
                return not_found(str(error))
        if request.method != "POST" or path not in (_ENDPOINT, "/chat/completions"):
            text = f"this is a simulated chat completions endpoint; POST to {_ENDPOINT} or /s/<scenario>{_ENDPOINT}"
            return not_found(text)
        try:
            body = parse_json(request.body, "request body")
        except InvalidDocument as error:
            return responder.invalid({}, str(error))
        if not isinstance(body, dict):
            return responder.invalid({}, "expected a JSON object as the request body")
        return self.reply(body, scenario)

    def send(self, body: Mapping[str, Any]) -> Exchange:
        """Return the exchange of one request, as a client that uses HTTP would record it.

        Raises Unusable if the simulator itself is at fault.
        """
        sent = to_exchange(dict(body), self.reply(body), str(body.get("model", "")))
        if sent.status == 500 and SIMULATOR_ERROR in str(sent.response):
            raise Unusable(str(sent.response))
        return sent

    def reply(self, body: Mapping[str, Any], scenario: Scenario | None = None) -> HttpReply:
        """Return the reply to a request body: the claimed refusal, or the next turn of the script."""
        exchange = Exchange.of_plain(request=body, model=str(body.get("model", "")))
        is_list = isinstance(body.get("messages"), list)
        played = (scenario or script.find_scenario(body)) if is_list else None
        responder = Responder(self.profile)
        if played is not None and played.for_clients:
            responder = Responder(self.profile.with_claims(played.claims), frozenset(played.breaks))
        before = _earlier_exchanges(responder, body, played)
        refusal = first_refusal(check((*before, exchange), responder.profile), len(before))
        if refusal is not None:
            return responder.refuse(body, refusal)
        if not is_list or not body["messages"]:
            return responder.invalid(body, "expected messages: a list with at least one message")
        claims = responder.profile.at(exchange.model, "")
        if not script.is_demand_met(body, claims):
            return responder.invalid(body, "tool_choice demands a call that no declared tool allows")
        return responder.reply(body, script.next_turn(body, played, claims), responder.context(body))


def _earlier_exchanges(responder: Responder, body: Mapping[str, Any], played: Scenario | None) -> Conversation:
    """Return the exchanges that must have led to a request of a scenario; none if they cannot be known."""
    if played is None:
        return ()
    exchanges = []
    for request in script.earlier_requests(body):
        context = responder.context(request)
        reply = replies.body(context, replies.message(context, script.next_turn(request, played, context.claims)))
        exchanges.append(Exchange.of_plain(request, reply, 200, model=str(body.get("model", ""))))
    return tuple(exchanges)


@contextmanager
def simulated(profile: Profile, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve the simulator of a provider in the background and yield its URL, without `/v1`."""
    with serving(Simulator(profile).answer, host, port) as url:
        yield url
