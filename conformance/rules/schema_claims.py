"""Which claim covers a schema error in a request, and the values that the provider's refusal names.

A claim describes a kind of deviation; a schema error has a place and a keyword. The tables below map one to the other.
An error that no claim covers is judged by the canonical wire alone.
"""

from collections.abc import Mapping
from typing import Any, Final

from conformance.documents.pointer import Place, value_at
from conformance.schemas import SchemaError

_MESSAGE_DEPTH: Final = 4
"""Messages are at `/<exchange>/request/messages/<position>`."""

_PART_TYPES: Final = frozenset({"text", "image_url", "input_audio", "file", "refusal", "thinking"})
_BARE_PARTS: Final = {"image_url": "request.image-url-string", "input_audio": "request.audio-string"}
_EMPTY_LISTS: Final[Mapping[Place, str]] = {
    ("messages",): "request.no-messages",
    ("tools",): "tools.empty-list",
}
_MISSING_KEYS: Final = {
    "tool_call_id": "results.without-id",
    "content": "results.content-null",
    "type": "request.call-without-type",
    "id": "ids.absent-in-request",
}
_REQUIRED_KEYS: Final[Mapping[str | int, str]] = {
    "model": "request.model-omitted",
    "messages": "request.missing-field",
}
_NULL_KEYS_OF_CALLS: Final = {"id": "ids.absent-in-request", "type": "request.call-without-type"}
_RESULT_TYPES: Final = {type(None): "results.content-null", dict: "results.content-object"}

OF_REQUESTS: Final = (
    "request.missing-field", "request.model-omitted", "request.no-messages", "request.null-parameters",
    "request.wrong-type", "tools.choice-type-absent", "tools.empty-list",
)  # fmt: skip
OF_MESSAGES: Final = (
    "request.audio-string", "request.empty-tool-calls", "request.image-url-string", "request.known-part-types",
    "request.missing-field", "request.null-message-fields", "request.null-tool-calls", "request.unknown-part-type",
    "request.unknown-role", "request.wrong-type", "results.content-null", "results.content-object",
    "results.image-parts", "results.without-id",
)  # fmt: skip
OF_TOOL_CALLS: Final = (
    "arguments.absent-in-request", "arguments.object-in-request", "ids.absent-in-request", "request.call-without-type",
    "request.missing-field", "request.wrong-type",
)  # fmt: skip
OF_TOOL_DEFINITIONS: Final = ("request.missing-field", "tools.type-absent")


def claim_and_values(error: SchemaError, request: Any) -> tuple[str | None, dict[str, Any]]:
    """Return the name of the claim that covers an error in a request, and the values for the provider's refusal."""
    inside = error.place[2:]
    if inside[:1] != ("messages",) or len(inside) < 2:
        field = _path((*inside, error.missing)) if error.missing else inside[-1] if inside else ""
        return _of_request(error, inside), {"field": field, "count": 0}
    message = value_at(request, inside[:2])
    if not isinstance(message, Mapping):
        return "request.wrong-type", {"value": message}
    rest = error.place[_MESSAGE_DEPTH:]
    value = value_at(message, rest)
    values = {"role": message.get("role"), "field": rest[-1] if rest else "", "value": value}
    position = next((token for token in rest if isinstance(token, int)), None)
    if position is not None:
        values["position"] = position
    return _of_message(error, rest, message, value, values), values


def _of_request(error: SchemaError, inside: Place) -> str | None:
    """Return the claim about an error beside the messages."""
    if error.keyword == "minItems":
        return _EMPTY_LISTS.get(inside)
    if error.keyword == "type" and len(inside) == 1 and error.got == "null":
        return _REQUIRED_KEYS.get(inside[0], "request.null-parameters")
    if not error.missing:
        return None
    if inside == ("tool_choice",) and error.missing == "type":
        return "tools.choice-type-absent"
    if not inside and error.missing == "model":
        return "request.model-omitted"
    is_tool = len(inside) == 2 and inside[0] == "tools"
    return "tools.type-absent" if is_tool and error.missing == "type" else "request.missing-field"


def _of_message(
    error: SchemaError, rest: Place, message: Mapping[str, Any], value: Any, values: dict[str, Any]
) -> str | None:
    """Return the claim about an error in a message, and add the values that only some refusals name."""
    head = rest[:1]
    if head == ("tool_calls",) and len(rest) > 1:
        call = value_at(message, rest[:2])
        values["id"] = call.get("id") if isinstance(call, Mapping) else None
    if error.missing:
        return _of_missing_key(error, rest, message, values)
    if rest == ("role",):
        return "request.unknown-role" if isinstance(value, str) else "request.wrong-type"
    if head == ("content",):
        values["kind"] = value
        return _of_content(error, rest, message, value)
    if head == ("tool_calls",):
        return _of_calls(error, rest, value)
    if error.got == "null" and error.keyword == "type" and len(rest) == 1:
        return "request.null-message-fields"
    return _of_type(error)


def _of_missing_key(error: SchemaError, rest: Place, message: Mapping[str, Any], values: dict[str, Any]) -> str | None:
    key = values["field"] = error.missing
    in_call = rest[:1] == ("tool_calls",) and len(rest) == 2
    in_result = not rest and message.get("role") == "tool"
    if key in _MISSING_KEYS and (in_call if key in ("type", "id") else in_result):
        return _MISSING_KEYS[key]
    if key == "arguments" and rest[:1] == ("tool_calls",):
        return "arguments.absent-in-request"
    values["field"] = _path((*error.place[2:], key))
    return "request.missing-field"


def _path(place: Place) -> str:
    """Return a place as refusals write it: `messages[2].tool_calls[0].type`."""
    return "".join(f"[{token}]" if isinstance(token, int) else f".{token}" for token in place).removeprefix(".")


def _of_content(error: SchemaError, rest: Place, message: Mapping[str, Any], value: Any) -> str | None:
    in_result = message.get("role") == "tool"
    if len(rest) == 1 and in_result and error.keyword == "type":
        return _RESULT_TYPES.get(type(value), "request.wrong-type")
    if len(rest) == 3 and rest[2] == "type" and isinstance(value, str):
        if in_result and value == "image_url":
            return "results.image-parts"
        return None if value in _PART_TYPES else "request.unknown-part-type"
    claim = _BARE_PARTS.get(str(rest[-1])) if isinstance(value, str) else None
    return claim or _of_type(error)


def _of_calls(error: SchemaError, rest: Place, value: Any) -> str | None:
    if len(rest) == 1:
        if error.keyword == "minItems":
            return "request.empty-tool-calls"
        return "request.null-tool-calls" if value is None else "request.wrong-type"
    if value is None and len(rest) == 3:
        return _NULL_KEYS_OF_CALLS.get(str(rest[-1]))
    if rest[-1] == "arguments" and isinstance(value, dict):
        return "arguments.object-in-request"
    return _of_type(error)


def _of_type(error: SchemaError) -> str | None:
    """Return the claim about wrong types; other claims cover null, which many providers take as absent."""
    return "request.wrong-type" if error.keyword == "type" and error.got != "null" else None
