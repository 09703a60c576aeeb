"""Tool calls of the Prompt API, whose arguments are objects, where the wire has the text that the model wrote."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from conformance.dialects import Losses, arguments
from conformance.wire.pointer import Place


def to_wire(ident: str, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call of the wire; its arguments are written as JavaScript writes them, without spaces."""
    text = orjson.dumps(arguments).decode()
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": text}}


def from_wire(call: Mapping[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    """Return a call with parsed arguments."""
    return {
        "id": call["id"],
        "type": "function",
        "function": {"name": call["function"]["name"], "arguments": parsed(call, place, losses)},
    }


def _compact(value: Any) -> str:
    return orjson.dumps(value).decode()


def parsed(call: Mapping[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    """Return a call's arguments as an object, and note what the call loses on the way."""
    return arguments(call, place, losses, "a call has nothing beside its function", _compact)


def answers(transcript: Sequence[Mapping[str, Any]], position: int) -> tuple[dict[int, int], list[int]]:
    """Return which tool message answers which call of the assistant message at a position, and those that answer none.

    Calls that share an id are answered in their order. Only messages that follow at once are looked at.
    """
    waiting = [call["id"] for call in transcript[position].get("tool_calls") or ()]
    answered: dict[int, int] = {}
    strays: list[int] = []
    for at in range(position + 1, len(transcript)):
        if transcript[at]["role"] != "tool":
            break
        ident = transcript[at]["tool_call_id"]
        free = [number for number, each in enumerate(waiting) if each == ident and number not in answered]
        if free:
            answered[free[0]] = at
        else:
            strays.append(at)
    return answered, strays
