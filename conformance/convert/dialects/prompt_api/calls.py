"""Tool calls of the Prompt API, whose arguments are objects, where the wire has the text that the model wrote."""

from collections.abc import Mapping
from typing import Any

import orjson

from conformance.convert.dialects import Losses, arguments
from conformance.documents.pointer import Place


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
