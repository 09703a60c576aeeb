"""Replies compared with the script, and results in an answer paired with their calls.

The simulator and the scripted model of an engine know what to say. What such a reply says differently, the wire has
changed. A real model speaks freely; of its answers only the pairing of parallel results is read.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from conformance.convert import ingress
from conformance.profiles import Profile
from conformance.results import Evidence, Status
from conformance.results.runs import ProbeResult
from conformance.scenarios import Scenario, ScriptTurn, arguments_text
from conformance.simulator import replies
from conformance.simulator.responder import Responder
from conformance.wire.exchange import Conversation, Exchange
from conformance.wire.index import Index

AS_SCRIPTED: Final = "as-scripted"
"""The check that replies say what the script says; it is only in the results if it fails."""

RESULTS_PAIRED: Final = "results-paired"
"""The check that an answer names each result with its own call; it is only in the results if the answer names them."""

COMPARISONS: Final = (AS_SCRIPTED, RESULTS_PAIRED)

_TITLES: Final = {
    AS_SCRIPTED: "Replies say what the script says, to the character.",
    RESULTS_PAIRED: "The answer names each result with its own call.",
}


def compared(
    scenario: Scenario, conversation: Conversation, profile: Profile, evidence: Evidence
) -> Iterator[ProbeResult]:
    """Yield what the comparison with the script shows."""
    if evidence in (Evidence.SIMULATED, Evidence.ENGINE):
        difference = next(_differences(scenario, conversation, profile, evidence), None)
        if difference is not None:
            yield _result(AS_SCRIPTED, Status.FAILED, *difference)
        return
    for turn, last, reply in _answers(scenario, conversation):
        paired = _pairing(last, turn.results, reply)
        if paired is not None:
            observed = "each result with its own call" if paired else "results exchanged between calls"
            status = Status.PASSED if paired else Status.FAILED
            yield _result(RESULTS_PAIRED, status, "each result with its own call", observed)


def is_paired(exchange: Exchange) -> bool | None:
    """Return True if the answer to tool results names each with its own call, False if it exchanges them.

    None if it does not say so clearly. Results belong to calls by their ids, in whatever order they were sent.
    """
    messages = (exchange.request or {})["messages"]
    turns = [each for each in messages if each.get("tool_calls")]
    found = Index((exchange,)).replies
    if not turns or not found:
        return None
    results = {each.get("tool_call_id"): each.get("content") for each in messages if each["role"] == "tool"}
    calls = _content(turns[-1])["calls"]
    texts = [str(results.get(call.get("id"), "")) for call in turns[-1]["tool_calls"]]
    said = _content(ingress.read(found[0].message, {}))
    return None if said["calls"] or len(calls) < 2 else _pairing(calls, texts, said["text"])


def _result(name: str, status: Status, expected: str, observed: str) -> ProbeResult:
    return ProbeResult(name, _TITLES[name], "", status, expected, observed)


def _differences(
    scenario: Scenario, conversation: Conversation, profile: Profile, evidence: Evidence
) -> Iterator[tuple[str, str]]:
    """Yield what a reply should say and what it says, for each reply that differs."""
    for number, (turn, exchange) in enumerate(zip(scenario.turns, conversation, strict=False), 1):
        found = Index((exchange,)).replies
        if not found:
            return
        claims = profile.at(exchange.model, "")
        seen = _content(ingress.read(found[0].message, claims))
        if evidence is Evidence.ENGINE:
            scripted = _content(_as_transcript(turn))
            scripted.pop("reasoning", None)
        else:
            context = Responder(profile).context(exchange.request or {})
            scripted = _content(ingress.read(replies.message(context, turn), claims))
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


def _answers(
    scenario: Scenario, conversation: Conversation
) -> Iterator[tuple[ScriptTurn, Sequence[tuple[str, Any]], str]]:
    """Yield the turns with several results, the calls before them as they came, and the answer without calls."""
    calls: list[tuple[str, Any]] = []
    for turn, exchange in zip(scenario.turns, conversation, strict=False):
        found = Index((exchange,)).replies
        if not found:
            return
        said = _content(ingress.read(found[0].message, {}))
        if len(turn.results) > 1 and len(turn.results) == len(calls) and not said["calls"]:
            yield turn, calls, said["text"]
        calls = said["calls"]


def _pairing(calls: Sequence[tuple[str, Any]], results: Sequence[str], answer: str) -> bool | None:
    """Return True if an answer names each result with an argument of its own call; None if that cannot be said.

    It can be said if arguments and results take turns, as in "Madrid has 21 and Rome 24 degrees".
    """
    labels = [next(iter(_texts(arguments)), "") for _, arguments in calls]
    if len({*labels, *results}) != 2 * len(results):
        return None
    named = [(at, number, "call") for number, label in enumerate(labels) for at in _places(answer, label)]
    named += [(at, number, "result") for number, result in enumerate(results) for at in _places(answer, result)]
    listed = sorted(named)[: 2 * len(results)]
    pairs = list(zip(listed[::2], listed[1::2], strict=False))
    kinds = {(first[2], second[2]) for first, second in pairs}
    numbers = [(first[1], second[1]) for first, second in pairs]
    if kinds not in ({("call", "result")}, {("result", "call")}) or len(pairs) < len(results):
        return None
    if any(len(set(side)) < len(results) for side in zip(*numbers, strict=True)):
        return None
    return all(first == second for first, second in numbers)


def _texts(arguments: Any) -> list[str]:
    return [value for value in arguments.values() if isinstance(value, str)] if isinstance(arguments, dict) else []


def _places(text: str, wanted: str) -> Iterator[int]:
    """Yield where a word begins in a text."""
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(wanted) : at + len(wanted) + 1]
        if not (before.isalnum() or after.isalnum()):
            yield at
        at = text.find(wanted, at + 1)
