"""A small conforming agent loop whose requests can be edited to break a rule."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import orjson

from conformance.convert import egress, ingress
from conformance.scenarios import Scenario, tool_definitions
from conformance.simulator.sessions import ScenarioSession
from conformance.transport.http import HttpReply, HttpRequest
from conformance.wire.assemble import assemble
from conformance.wire.sse import read

Ask: TypeAlias = Callable[[dict[str, Any]], tuple[int, bytes]]
Edit: TypeAlias = Callable[[list[dict[str, Any]]], Sequence[Mapping[str, Any]]]
"""Changes the messages of a request before it is sent."""

MAX_REQUESTS = 12


class Broken(Exception):
    """A reply was a refusal, was truncated, or contained an error."""


@dataclass(slots=True)
class Agent:
    """A client of a session: `ask` sends a body and returns status and bytes."""

    session: ScenarioSession
    ask: Ask
    edit: Edit = list
    texts: list[str] = field(default_factory=list)
    transcript: list[dict[str, Any]] = field(default_factory=list)

    def run(self) -> None:
        """Run the conversation to its end; raises Broken if a reply is unusable."""
        scenario = self.session.scenario
        if scenario.system:
            self.transcript.append({"role": "system", "content": scenario.system})
        for prompt in scenario.prompts:
            self.transcript.append({"role": "user", "content": prompt})
            while calls := self._turn().get("tool_calls"):
                self.transcript += [_result(scenario, call) for call in calls]
            self.texts.append(self.transcript[-1]["content"])

    def _turn(self) -> dict[str, Any]:
        session = self.session
        if len(session.exchanges) >= MAX_REQUESTS:
            raise Broken("the conversation does not end")
        claims = session.profile.at(session.model)
        body: dict[str, Any] = {
            "model": session.model,
            "messages": list(self.edit(egress.prepare(self.transcript, claims).messages)),
            "stream": session.variant == "stream",
        }
        if session.scenario.tools:
            body["tools"] = [tool_definitions()[name] for name in session.scenario.tools]
        message = ingress.read(_message(*self.ask(body), streamed=body["stream"]), claims)
        self.transcript.append(message)
        return message


def directly(session: ScenarioSession) -> Ask:
    """Return a function that sends requests to a session without a network."""

    def ask(body: dict[str, Any]) -> tuple[int, bytes]:
        reply = session.answer(HttpRequest("POST", "/v1", {}, orjson.dumps(body)), "/v1/chat/completions")
        return reply.status, _bytes(reply)

    return ask


def _bytes(reply: HttpReply) -> bytes:
    return reply.body if isinstance(reply.body, bytes) else b"".join(reply.body)


def _message(status: int, content: bytes, *, streamed: bool) -> dict[str, Any]:
    if status != 200:
        raise Broken(content.decode())
    if not streamed:
        message: dict[str, Any] = orjson.loads(content)["choices"][0]["message"]
        return message
    stream = assemble(read(content.decode()))
    if stream.error is not None or ("cut" in stream.anomalies and not stream.done):
        raise Broken(f"the stream holds {stream.error or 'no end'}")
    return stream.choices[0].message


def _result(scenario: Scenario, call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    text = results(scenario).get((function["name"], _parsed(function["arguments"])), "There is no such thing.")
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


def results(scenario: Scenario) -> dict[tuple[str, str], str]:
    """Return the results of a script by function name and arguments, in one notation."""
    pairs = zip(scenario.turns, scenario.turns[1:], strict=False)
    return {
        (name, _parsed(arguments)): text
        for before, after in pairs
        for (name, arguments), text in zip(before.calls, after.results, strict=False)
    }


def _parsed(arguments: Any) -> str:
    try:
        value = orjson.loads(arguments) if isinstance(arguments, str) else arguments
    except orjson.JSONDecodeError:
        value = {}
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
