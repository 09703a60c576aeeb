"""Which calls are the same: those that clients parse, render and send back."""

from typing import Any

import orjson

from conformance.wire.elements import Call, calls_of
from conformance.wire.keys import key_of


def calls_in(message: dict[str, Any]) -> list[Call]:
    """Return the tool calls of a message that is sent, without their places."""
    tool_calls = message.get("tool_calls")
    return calls_of(tool_calls, (), None) if type(tool_calls) is list else []


def same_arguments(back: Any, given: Any) -> bool:
    """Return whether arguments are equal as text or as JSON, because clients parse and render them again."""
    if back == given:
        return True
    try:
        return bool(orjson.loads(back) == orjson.loads(given))
    except (orjson.JSONDecodeError, TypeError):
        return False


def call_key(call: Call) -> tuple[Any, Any, Any]:
    """Return a key that calls with one id, one name and the same arguments share."""
    return key_of(call.id), key_of(call.name), arguments_key(call.arguments)


def arguments_key(arguments: Any) -> Any:
    """Return a key that arguments share with the same ones in another notation."""
    try:
        return "JSON", key_of(orjson.loads(arguments))
    except (orjson.JSONDecodeError, TypeError):
        return "other", key_of(arguments)
