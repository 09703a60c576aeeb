"""The deviations of probes: each makes one request body into another with one thing different."""

import copy
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

Body: TypeAlias = dict[str, Any]

REASONING: Final = ("reasoning_content", "reasoning", "reasoning_details")


def changed(body: Mapping[str, Any], change: str) -> Body:
    """Return a copy of a request body with one of `CHANGES` made to it; the body itself stays as it is."""
    copied: Body = copy.deepcopy(dict(body))
    CHANGES[change](copied["messages"])
    return copied


def _nothing(_messages: list[Body]) -> None:
    """Leave everything as it is."""


def _reasoning_absent(messages: list[Body]) -> None:
    for message in _tool_turns(messages):
        for field in REASONING:
            message.pop(field, None)


def _reasoning_empty(messages: list[Body]) -> None:
    for message in _tool_turns(messages):
        for field in REASONING:
            if field in message:
                message[field] = [] if field == "reasoning_details" else ""


def _results_missing(messages: list[Body]) -> None:
    del messages[_results(messages)[-1]]


def _results_reversed(messages: list[Body]) -> None:
    run = _results(messages)
    messages[run[0] : run[-1] + 1] = [messages[position] for position in reversed(run)]


def _results_orphaned(messages: list[Body]) -> None:
    del messages[_results(messages)[0] - 1]


def _ids_colliding(messages: list[Body]) -> None:
    """Give the call of every later tool turn, and its result, the id of the first turn's call."""
    first, *later = _tool_turns(messages)
    reused = first["tool_calls"][0]["id"]
    for turn in later:
        old = turn["tool_calls"][0]["id"]
        turn["tool_calls"][0]["id"] = reused
        for message in messages:
            if message.get("tool_call_id") == old:
                message["tool_call_id"] = reused


CHANGES: Final[Mapping[str, Callable[[list[Body]], None]]] = {
    "nothing": _nothing,
    "reasoning-absent": _reasoning_absent,
    "reasoning-empty": _reasoning_empty,
    "results-missing": _results_missing,
    "results-reversed": _results_reversed,
    "results-orphaned": _results_orphaned,
    "ids-colliding": _ids_colliding,
}


def _tool_turns(messages: list[Body]) -> list[Body]:
    return [message for message in messages if message.get("tool_calls")]


def _results(messages: list[Body]) -> list[int]:
    """Return the positions of the last run of tool messages."""
    last = max(position for position, message in enumerate(messages) if message["role"] == "tool")
    first = last
    while first and messages[first - 1]["role"] == "tool":
        first -= 1
    return list(range(first, last + 1))
