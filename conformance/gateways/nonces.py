"""Scenarios whose every text, argument and result has a nonce, so that both ends of a gateway match exactly."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conformance.fidelity.pairing import ALPHABET, LENGTH
from conformance.scenarios import Arguments, Scenario, ScriptTurn


class Nonces:
    """The nonces of a case: each call of `next` returns another one, the same in every run."""

    def __init__(self, case: str) -> None:
        """Begin with the nonce that the first message of the case has."""
        self._case, self._count = case, 0
        self.first = self.next()

    def next(self) -> str:
        """Return a text that nobody says by chance."""
        digest = hashlib.sha256(f"{self._case} {self._count}".encode()).digest()
        self._count += 1
        return "Q" + "".join([ALPHABET[each % len(ALPHABET)] for each in digest[: LENGTH - 1]])


def planted(scenario: Scenario, nonces: Nonces) -> Scenario:
    """Return a scenario with a nonce in each text of the user, the model and the tools, and in free arguments."""
    turns, first = [], nonces.first
    for turn in scenario.turns:
        turns.append(_turn(turn, nonces, first))
        first = "" if turn.user is not None else first
    system = f"{scenario.system} ({nonces.next()})" if scenario.system else ""
    history = [dict(each) for each in scenario.history]
    return replace(scenario, turns=tuple(turns), system=system, history=tuple(history))


def _turn(turn: ScriptTurn, nonces: Nonces, first: str) -> ScriptTurn:
    marked = first or nonces.next()
    return replace(
        turn,
        user=None if turn.user is None else f"{turn.user} ({marked})",
        thinks=f"{turn.thinks} ({nonces.next()})" if turn.thinks else "",
        says=f"{turn.says} ({nonces.next()})" if turn.says else "",
        results=tuple([f"{text} ({nonces.next()})" for text in turn.results]),
        calls=tuple([(name, _arguments(given, nonces)) for name, given in turn.calls]),
        # What the user gives word for word would no longer be what the model writes.
        echo=False,
    )


def _arguments(given: Arguments, nonces: Nonces) -> Arguments:
    """Return arguments with a nonce in their first text, if they are an object that has one."""
    if not isinstance(given, Mapping):
        return given
    made: dict[str, Any] = dict(given)
    name = next((key for key, value in made.items() if isinstance(value, str) and value), None)
    if name is not None:
        made[name] = f"{made[name]} {nonces.next()}"
    return made


def described(tool: Mapping[str, Any], nonces: Nonces) -> dict[str, Any]:
    """Return a tool with a nonce in its description and in that of its first parameter."""
    function = dict(tool["function"])
    function["description"] = f"{function.get('description', '')} ({nonces.next()})"
    parameters = dict(function.get("parameters") or {})
    properties = {key: dict(value) for key, value in (parameters.get("properties") or {}).items()}
    for schema in list(properties.values())[:1]:
        schema["description"] = f"{schema.get('description', 'what is asked for')} ({nonces.next()})"
    if properties:
        parameters["properties"] = properties
    function["parameters"] = parameters
    return {**tool, "function": function}
