"""What real clients sent to a scripted provider, as sessions that loop facts can check."""

import ast
import gzip
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from conformance.adapters import loop
from conformance.adapters.loop import ClientSession, DriverAnswer, RaisedError
from conformance.formats.records import exchange
from conformance.judge import check
from conformance.results import Outcome, Status
from conformance.scenarios import Scenario, ScriptTurn
from conformance.wire.exchange import Conversation

CITIES = {"Paris": "Paris: 21C", "Tokyo": "Tokyo: 22C", "Oslo": "Oslo: 23C"}
FINALS = ("FINAL1: Paris 21C, Tokyo 22C, Oslo 23C.", "FINAL2: Oslo is the warmest.", "FINAL3: bye.")
SCRIPT = Scenario(
    "captured",
    "The script of the provider in the captures.",
    (),
    (
        ScriptTurn(
            user="What is the weather in Paris, Tokyo and Oslo?", calls=(("get_weather", {}), ("get_weather", {}))
        ),
        ScriptTurn(results=("Paris: 21C", "Tokyo: 22C"), says="Let me also check Oslo.", calls=(("get_weather", {}),)),
        ScriptTurn(results=("Oslo: 23C",), says=FINALS[0]),
        ScriptTurn(user="Which is the warmest?", says=FINALS[1]),
        ScriptTurn(user="Bye.", says=FINALS[2]),
    ),
)
REBUILT = ("smolagents", "crewai", "multi-llm-ts", "mastra")
"""Adapters whose drivers rebuild the history between user messages: only their first three requests count."""


@cache
def records(path: Path) -> tuple[Mapping[str, Any], ...]:
    with gzip.open(path) as lines:
        return tuple([json.loads(line) for line in lines])


def conversation(record: Mapping[str, Any]) -> Conversation:
    exchanges = record["exchanges"][:3] if record["adapter"].startswith(REBUILT) else record["exchanges"]
    return tuple(exchange(each, record["adapter"]) for each in exchanges)


def client_session(record: Mapping[str, Any]) -> ClientSession:
    behaviours = [
        {"arguments": {"city": city, **more}, "text": text, "delay_ms": 0, "fails": False, "denied": False}
        for city, text in CITIES.items()
        for more in ({"unit": "c"}, {})
    ]
    tools = [{"name": "get_weather", "results": behaviours, "otherwise": ""}]
    return ClientSession(SCRIPT, conversation(record), {"tools": tools, "model": ""}, _answer(record))


def failed(record: Mapping[str, Any]) -> dict[str, Outcome]:
    """Return the failed outcomes of a capture, by rule: rules of the canonical wire, and loop facts."""
    outcomes = (*check(conversation(record)), *loop.judge(client_session(record)))
    return {outcome.rule: outcome for outcome in outcomes if outcome.status is Status.FAILED}


def verdict(record: Mapping[str, Any], name: str) -> str:
    """Return the captures' own verdict under a name; empty if there is none."""
    return str(record["verdicts"].get(name, {}).get("verdict", ""))


def _answer(record: Mapping[str, Any]) -> DriverAnswer:
    outcome = record["outcome"]
    texts = tuple(_texts(outcome.get("result")))
    error = None if outcome.get("ok") else RaisedError("Error", str(outcome.get("error", ""))[:200])
    # Where the history is rebuilt, the texts are not those of the prompts.
    rebuilt = record["adapter"].startswith(REBUILT) and error is None
    return DriverAnswer() if rebuilt else DriverAnswer(texts, error)


def _texts(result: Any) -> Iterator[str | None]:
    if not isinstance(result, str):
        return
    try:
        listed = json.loads(result)
    except ValueError:
        try:
            listed = ast.literal_eval(result)
        except (SyntaxError, ValueError):
            listed = [result]
    yield from (None if each is None else str(each) for each in (listed if isinstance(listed, list) else [listed]))
