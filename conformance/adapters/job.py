"""The job of a session: what a driver is given, as `schemas/files/adapter-job.json` has it."""

from collections.abc import Iterator
from typing import Any, Final

from conformance.adapters.loop import parsed
from conformance.scenarios import Scenario, tool_definitions
from conformance.simulator.sessions import Session
from conformance.suite.play import NO_RESULT

CONTRACT: Final = 1
"""The version of the contract between this package and drivers."""

API_KEY: Final = "conformance-no-secret"
"""The key that clients are given which insist on one."""

_SPARE: Final = 3
"""How many turns more than the script has a prompt may take: a loop that goes on for ever is to be seen doing so."""


def job(session: Session) -> dict[str, Any]:
    """Return the job of a session."""
    scenario = session.scenario
    return {
        "contract": CONTRACT,
        "base_url": session.base_url,
        "api_key": API_KEY,
        "provider": session.profile.name,
        "model": session.model,
        "stream": session.variant == "stream",
        "system": scenario.system,
        "prompts": list(scenario.prompts),
        "tools": [_tool(scenario, name) for name in scenario.tools],
        "max_turns": len(scenario.turns) + _SPARE,
    }


def _tool(scenario: Scenario, name: str) -> dict[str, Any]:
    function = tool_definitions()[name]["function"]
    results: list[dict[str, Any]] = []
    for result in _results(scenario, name):
        if not any(each["arguments"] == result["arguments"] for each in results):
            results.append(result)
    return {
        "name": name,
        "description": function.get("description", ""),
        "parameters": function["parameters"],
        "results": results,
        "otherwise": NO_RESULT,
    }


def _results(scenario: Scenario, name: str) -> Iterator[dict[str, Any]]:
    """Yield how a tool behaves, once for each call of it that the script has results for."""
    for turn, after in zip(scenario.turns, scenario.turns[1:], strict=False):
        for position, (called, arguments) in enumerate(turn.calls[: len(after.results)]):
            if called == name:
                yield {
                    "arguments": parsed(arguments) if isinstance(arguments, str) else dict(arguments),
                    "text": after.results[position],
                    "delay_ms": after.delays[position] if position < len(after.delays) else 0,
                    "fails": position in after.fails,
                    "denied": position in after.denied,
                }
