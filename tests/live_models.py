"""Models that speak freely, played by the simulator of a profile without its script, and hosts that damage replies.

A model gets the request of chat completions and returns its turn. A host changes the request before the model sees it,
or the turn before it is written on the wire. The suite cannot tell such a provider from a real one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
import pytest

from conformance import profiles, scenarios
from conformance.profiles import Profile
from conformance.results import Evidence
from conformance.results.runs import Case, ProbeResult
from conformance.scenarios import ScriptTurn
from conformance.simulator import Simulator, script
from conformance.simulator.responder import Responder
from conformance.suite.play import play
from conformance.suite.turns import Subject
from conformance.wire.exchange import Exchange

WIRES = ("openai", "deepseek.messages", "openai.responses", "gemini.gemini")
"""A profile of each wire."""

Body = Mapping[str, Any]
Model = Callable[[Body], ScriptTurn]


@dataclass
class LiveProvider:
    """A model behind a host, and how many requests it got."""

    profile: Profile
    model: Model
    sent: list[Body] = field(default_factory=list)

    @property
    def subject(self) -> Subject:
        return Subject(self.profile, self.profile.model, self.send, Evidence.LIVE)

    def send(self, body: Body) -> Exchange:
        self.sent.append(body)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(script, "next_turn", lambda asked, *_: self.model(asked))
            patch.setattr(Responder, "_checked", lambda _self, _sent, reply: reply)
            exchange = Simulator(self.profile).send(body)
        return replace(exchange, headers={})


def played(profile: str, scenario: str, variant: str, model: Model) -> Case:
    return play(scenarios.load(scenario), variant, LiveProvider(profiles.load(profile), model).subject)


def comparison(case: Case, name: str) -> ProbeResult:
    (result,) = [each for each in case.probes if each.name == name]
    return result


def last_calls(body: Body) -> list[tuple[Mapping[str, Any], str]]:
    """Return the calls of the last tool turn, as functions, with their results by id."""
    messages = body["messages"]
    turns = [each["tool_calls"] for each in messages if each.get("tool_calls")]
    results = {each["tool_call_id"]: str(each["content"]) for each in messages if each["role"] == "tool"}
    return [(call["function"], results.get(call["id"], "")) for call in (turns[-1] if turns else ())]


def argument(function: Mapping[str, Any]) -> str:
    return str(next(iter(orjson.loads(function["arguments"]).values()), ""))


def is_asked(body: Body) -> bool:
    return bool(body["messages"][-1]["role"] == "user")
