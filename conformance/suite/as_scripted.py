"""Replies compared with the script.

The simulator and the scripted model of an engine know what to say. What such a reply says differently, the wire has
changed. A real model speaks freely; what its replies must contain follows from the requests.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from conformance.convert import ingress
from conformance.observations.replies import whole_message
from conformance.profiles import UNKNOWN, Profile
from conformance.results import Evidence
from conformance.scenarios import Scenario, ScriptTurn, arguments_text
from conformance.simulator import replies, script
from conformance.simulator.responder import Responder
from conformance.wire.exchange import Conversation
from conformance.wire.index import Index


def difference(
    scenario: Scenario, conversation: Conversation, profile: Profile, evidence: Evidence
) -> tuple[str, str] | None:
    """Return what the first reply that differs from the script should say, and what it says."""
    return next(_differences(scenario, conversation, profile, evidence), None)


def _differences(
    scenario: Scenario, conversation: Conversation, profile: Profile, evidence: Evidence
) -> Iterator[tuple[str, str]]:
    """Yield what a reply should say and what it says, for each reply that differs."""
    for number, (scripted_turn, exchange) in enumerate(zip(scenario.turns, conversation, strict=False), 1):
        found = Index((exchange,)).replies
        if not found:
            return
        claims, request = profile.at(exchange.model, ""), exchange.request or {}
        turn = script.with_results(scripted_turn, request.get("messages", ()), {})
        seen = _content(ingress.read(whole_message(found[0], claims), claims))
        if evidence is Evidence.ENGINE:
            scripted = _content(_as_transcript(turn))
            scripted.pop("reasoning", None)
        else:
            context = Responder(profile).context(request)
            scripted = _content(ingress.read(replies.message(context, turn), claims))
        if claims.get("reasoning.response-field") == UNKNOWN:
            scripted.pop("reasoning", None)
        for name, value in scripted.items():
            if name == "text" and turn.calls:  # Providers put words of their own beside calls.
                continue
            if name == "text" and evidence is Evidence.ENGINE and _begins_with(seen["text"], value):
                continue
            if value != seen.get(name):
                yield (
                    f"in turn {number}, {name} {value!r:.300}",
                    f"{seen.get(name)!r:.300}, which differs from the script",
                )
                break


def _begins_with(text: str, scripted: str) -> bool:
    """Return True if a scripted model's text is as scripted.

    It goes on to say what it saw of its earlier reasoning. Reasoning in the text is what another rule reports.
    """
    return text.startswith(scripted) or "<think>" in text


def _content(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a message says, in a form that can be compared: text, reasoning and calls."""
    calls = [
        (call["function"]["name"], _value(call["function"]["arguments"])) for call in message.get("tool_calls", ())
    ]
    text = {"text": str(message.get("content") or "").strip(), "calls": calls}
    reasoning = message.get("reasoning_content")
    return {**text, "reasoning": reasoning.strip()} if reasoning else text


def _value(arguments: Any) -> Any:
    """Return the value of a call's arguments; without arguments, an empty object, however it is written."""
    try:
        return orjson.loads(arguments) or {}
    except (TypeError, orjson.JSONDecodeError):
        return arguments or {}


def _as_transcript(turn: ScriptTurn) -> dict[str, Any]:
    calls = [{"function": {"name": name, "arguments": arguments_text(arguments)}} for name, arguments in turn.calls]
    return {"content": turn.says, "reasoning_content": turn.thinks} | ({"tool_calls": calls} if calls else {})
