"""The strict provider: it refuses what its profile claims to be refused, and replies by the scenarios' scripts.

`/s/<scenario>/v1` plays one scenario; plain `/v1` knows a scenario by its user messages and answers any other request
too. Refusals come from the rule set, so that what `check` predicts and what a client is answered are one thing. What
is about to be sent is judged first: a finding there is a fault of this project, and answered 500.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import orjson

from conformance import profiles, scenarios
from conformance.documents import parse_json
from conformance.engine import check
from conformance.errors import InvalidDocument, UnknownName
from conformance.harness.persona import Persona
from conformance.profiles import Profile
from conformance.results import Level, Outcome, Refusal, Status
from conformance.rules import load
from conformance.scenarios import Scenario, Turn
from conformance.transport.client import SIMULATOR
from conformance.transport.server import Answered, Asked, serving
from conformance.wire.exchange import Exchange
from conformance.wire.sse import render
from conformance.wire.views import Side

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"
_ENDPOINT = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Simulator:
    """A provider played by its profile."""

    profile: Profile

    def answer(self, asked: Asked) -> Answered:
        """Return the reply to any HTTP request; never raises for what a client sends."""
        path = asked.path.partition("?")[0]
        if asked.method == "GET" and path.endswith("/models"):
            models = [{"id": model.name, "object": "model"} for model in self.profile.models]
            return _json(200, {"object": "list", "data": models})
        scenario = None
        if path.startswith("/s/"):
            name, _, rest = path.removeprefix("/s/").partition("/")
            path = f"/{rest}"
            try:
                scenario = scenarios.load(name)
            except UnknownName as error:
                return _json(404, {"error": {"message": str(error), "type": "not_found_error"}})
        if asked.method != "POST" or path not in (_ENDPOINT, "/chat/completions"):
            text = f"this is a simulated chat completions endpoint; POST to {_ENDPOINT} or /s/<scenario>{_ENDPOINT}"
            return _json(404, {"error": {"message": text, "type": "not_found_error"}})
        try:
            body = parse_json(asked.body, "request body")
        except InvalidDocument as error:
            return self._refuse({}, Refusal(400, str(error)))
        if not isinstance(body, dict):
            return self._refuse({}, Refusal(400, "expected a JSON object as the request body"))
        return self.reply(body, scenario)

    def reply(self, body: Mapping[str, Any], scenario: Scenario | None = None) -> Answered:
        """Return the reply to a request body: the claimed refusal, or the next turn of the script."""
        asked = Exchange(request=body, model=str(body.get("model", "")))
        refusal = first_refusal(check((asked,), self.profile))
        if refusal is not None:
            return self._refuse(body, refusal)
        if not isinstance(body.get("messages"), list) or not body["messages"]:
            return self._refuse(body, Refusal(400, "expected messages: a list with at least one message"))
        claims = self.profile.at(asked.model, "")
        thinks = profiles.thinks(claims, body)
        persona = Persona(claims, body, thinks=thinks if thinks is not None else "thinking.mode" in claims)
        message = persona.message(_next_turn(body, scenario))
        if body.get("stream") is True:
            text = render(persona.events(message))
            answered = Answered(
                200, tuple(piece.encode() + b"\n\n" for piece in text.split("\n\n") if piece), _headers(STREAM_TYPE)
            )
            sent = Exchange(body, text, 200, streamed=True, headers=answered.headers, model=asked.model)
        else:
            reply = persona.body(message)
            answered = _json(200, reply)
            sent = Exchange(body, reply, 200, headers=answered.headers, model=asked.model)
        return self._judged(sent, answered)

    def _judged(self, sent: Exchange, answered: Answered) -> Answered:
        broken = [
            f"{outcome.rule}: {outcome.reason or outcome.findings[0].message}"
            for outcome in check((sent,), self.profile)
            if outcome.status in (Status.FAILED, Status.ERRORED)
            and outcome.level is Level.MUST
            and _side(outcome) is Side.PROVIDER
        ]
        if broken:
            text = f"the simulator was about to break its own rules, which is a fault of this project: {broken}"
            return _json(500, {"error": {"message": text, "type": "simulator_error"}})
        return answered

    def _refuse(self, body: Mapping[str, Any], refusal: Refusal) -> Answered:
        claims = self.profile.at(str(body.get("model", "")), "")
        return _json(refusal.status, Persona(claims, body, thinks=False).error(refusal))


def first_refusal(outcomes: Sequence[Outcome]) -> Refusal | None:
    """Return what a provider answers to a request, of all refusals the one that stands first in the request."""
    refused = [
        (_position(finding.at), finding.refusal)
        for outcome in outcomes
        for finding in outcome.findings
        if finding.refusal is not None
    ]
    return min(refused, key=lambda each: each[0])[1] if refused else None


@contextmanager
def simulated(profile: Profile, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve a provider's simulator in the background and yield its URL, without `/v1`."""
    with serving(Simulator(profile).answer, host, port) as url:
        yield url


def _position(pointer: str) -> tuple[int, ...]:
    return tuple(int(token) for token in pointer.split("/") if token.isdecimal())


def _side(outcome: Outcome) -> Side:
    return next(rule.on.side for rule in load() if rule.id == outcome.rule)


def _headers(content_type: str) -> dict[str, str]:
    return {"content-type": content_type, "server": SIMULATOR}


def _json(status: int, body: Any) -> Answered:
    return Answered(status, orjson.dumps(body), _headers(JSON_TYPE))


def _next_turn(body: Mapping[str, Any], scenario: Scenario | None) -> Turn:
    """Return the turn that is due: the script's, by the number of assistant messages, else one made up."""
    messages = [message for message in body["messages"] if isinstance(message, dict)]
    said = tuple(message.get("content") for message in messages if message.get("role") == "user")
    script = scenario or _scenario_of(said)
    number = len([message for message in messages if message.get("role") == "assistant"])
    if script is not None and number < len(script.turns):
        turn = script.turns[number]
        offered = _offered(body)
        if all(name in offered for name, _ in turn.calls):
            return turn
    return _improvised(body, messages)


def _scenario_of(said: tuple[Any, ...]) -> Scenario | None:
    for name in scenarios.names():
        scenario = scenarios.load(name)
        if said and scenario.prompts[: len(said)] == said:
            return scenario
    return None


def _offered(body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the functions that a request offers, by name."""
    tools = body.get("tools") if body.get("tool_choice") != "none" else None
    functions = [tool.get("function") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return {each["name"]: each for each in functions if isinstance(each, dict) and isinstance(each.get("name"), str)}


def _improvised(body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Turn:
    """Return a turn for a request of no scenario: a tool is called once for each user message, then there are words."""
    offered = _offered(body)
    if offered and messages and messages[-1].get("role") == "user":
        name, function = next(iter(offered.items()))
        return Turn(thinks="A tool may help.", calls=((name, _arguments(function.get("parameters"))),))
    return Turn(thinks="There is enough to answer.", says="This is a simulated answer.")


_SAMPLES: Mapping[str, Any] = {
    "string": "Paris",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}


def _arguments(parameters: Any) -> dict[str, Any]:
    """Return arguments for the required properties of a tool's parameters, a sample value for each type."""
    if not isinstance(parameters, dict) or not isinstance(parameters.get("properties"), dict):
        return {}
    required = parameters.get("required")
    chosen = {}
    for name in required if isinstance(required, list) else ():
        schema = parameters["properties"].get(name, {})
        kind = schema.get("type") if isinstance(schema, dict) else None
        listed = schema.get("enum") if isinstance(schema, dict) else None
        chosen[name] = listed[0] if isinstance(listed, list) and listed else _SAMPLES.get(str(kind), "Paris")
    return chosen
