"""Jobs: the description of a session that a driver reads, as defined in `schemas/files/adapter-job.json`."""

from collections.abc import Iterator
from typing import Any, Final

from conformance import profiles
from conformance.adapters.loop import parse_arguments
from conformance.scenarios import Scenario, tool_definitions
from conformance.simulator.sessions import ScenarioSession
from conformance.suite.turns import NO_RESULT

CONTRACT: Final = 1
"""The version of the contract between this package and drivers."""

API_KEY: Final = "conformance-no-secret"
"""The key for clients that insist on one."""

_SPARE_TURNS: Final = 3
"""How many turns more than the script a prompt may take, so that an endless loop becomes visible."""


def job_of(session: ScenarioSession) -> dict[str, Any]:
    """Return the job of a session."""
    scenario = session.scenario
    profile = session.profile
    known = [each for each in (profile.service, *profile.extends) if each in profiles.names()]
    return {
        "contract": CONTRACT,
        "base_url": session.base_url,
        "protocol": profile.wire,
        "api_key": API_KEY,
        "provider": next(iter(known), profile.service),
        "model": session.model,
        "stream": session.variant == "stream",
        "system": scenario.system,
        "prompts": list(scenario.asked),
        "tools": [] if scenario.for_agents else [_tool(scenario, name) for name in scenario.tools],
        "max_turns": len(scenario.turns) + _SPARE_TURNS,
        **({"profile": profile.path} if profile.path else {}),
        **({"history": [dict(each) for each in scenario.history]} if scenario.history else {}),
        **({"state": scenario.state} if scenario.state else {}),
    }


def _tool(scenario: Scenario, name: str) -> dict[str, Any]:
    function = tool_definitions()[name]["function"]
    results: list[dict[str, Any]] = []
    for result in _results(scenario, name):
        if not any(known["arguments"] == result["arguments"] for known in results):
            results.append(result)
    return {
        "name": name,
        "description": function.get("description", ""),
        "parameters": function["parameters"],
        "results": results,
        "otherwise": NO_RESULT,
    }


def _results(scenario: Scenario, name: str) -> Iterator[dict[str, Any]]:
    """Yield the behaviour of a tool for each call of it that the script has results for."""
    for turn, after in zip(scenario.turns, scenario.turns[1:], strict=False):
        for position, (called, arguments) in enumerate(turn.calls[: len(after.results)]):
            if called == name:
                yield {
                    "arguments": parse_arguments(arguments) if isinstance(arguments, str) else dict(arguments),
                    "text": after.results[position],
                    "delay_ms": after.delays[position] if position < len(after.delays) else 0,
                    "fails": position in after.fails,
                    "denied": position in after.denied,
                }
