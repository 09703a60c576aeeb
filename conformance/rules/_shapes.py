"""Which claim speaks of what the schemas find wrong in a request, and the values that its texts name.

A claim is about a kind of deviation, a schema's error about a place and a keyword: the tables below lead from the one
to the other. An error that no claim speaks of is judged by the canonical wire alone.
"""

from collections.abc import Mapping
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.schemas import SchemaError

_MESSAGE = 4
"""Messages stand at `/<exchange>/request/messages/<number>`."""

_WIRE_TYPES: Final = frozenset({"text", "image_url", "input_audio", "file", "refusal", "thinking"})
_NO_LIST: Final[Mapping[Place, str]] = {
    ("messages",): "request.no-messages",
    ("tools",): "tools.empty-list",
}
_MISSING: Final = {
    "tool_call_id": "results.without-id",
    "content": "results.content-null",
    "type": "request.call-without-type",
    "id": "ids.absent-in-request",
}


def described(error: SchemaError, request: Any) -> tuple[str | None, dict[str, Any]]:
    """Return the name of the claim about an error in a request body, and the values for its refusal."""
    inside = error.place[2:]
    if inside[:1] != ("messages",) or len(inside) < 2:
        field = _path((*inside, _missing(error))) if error.keyword == "required" else inside[-1] if inside else ""
        return _of_top(error, inside), {"field": field, "count": 0}
    message = _at(request, inside[:2])
    if not isinstance(message, Mapping):
        return "request.wrong-type", {"value": message}
    rest = error.place[_MESSAGE:]
    value = _at(message, rest)
    values = {"role": message.get("role"), "field": rest[-1] if rest else "", "value": value}
    position = next((token for token in rest if isinstance(token, int)), None)
    if position is not None:
        values["position"] = position
    return _claim(error, rest, message, value, values), values


def _of_top(error: SchemaError, inside: Place) -> str | None:
    """Return the claim about what stands beside the messages."""
    if error.keyword == "minItems":
        return _NO_LIST.get(inside)
    if error.keyword == "type" and len(inside) == 1 and error.message.endswith("got null"):
        return "request.null-parameters"
    if error.keyword != "required":
        return None
    key = _missing(error)
    if inside == ("tool_choice",) and key == "type":
        return "tools.choice-type-absent"
    if not inside and key == "model":
        return "request.model-omitted"
    is_tool = len(inside) == 2 and inside[0] == "tools"
    return "tools.type-absent" if is_tool and key == "type" else "request.missing-field"


def _claim(
    error: SchemaError, rest: Place, message: Mapping[str, Any], value: Any, values: dict[str, Any]
) -> str | None:
    """Return the name of the claim, and add the values that only some claims name."""
    head = rest[:1]
    if head == ("tool_calls",) and len(rest) > 1:
        call = _at(message, rest[:2])
        values["id"] = call.get("id") if isinstance(call, Mapping) else None
    if error.keyword == "required":
        return _of_missing(error, rest, message, values)
    if rest == ("role",):
        return "request.unknown-role" if isinstance(value, str) else "request.wrong-type"
    if head == ("content",):
        values["kind"] = value
        return _of_content(error, rest, message, value)
    if head == ("tool_calls",):
        return _of_calls(error, rest, value)
    if value is None and error.keyword == "type" and len(rest) == 1:
        return "request.null-message-fields"
    return _of_type(error, value)


def _of_missing(error: SchemaError, rest: Place, message: Mapping[str, Any], values: dict[str, Any]) -> str | None:
    key = values["field"] = _missing(error)
    in_call = rest[:1] == ("tool_calls",) and len(rest) == 2
    of_tool = not rest and message.get("role") == "tool"
    fits = in_call if key in ("type", "id") else of_tool
    if fits and key in _MISSING:
        return _MISSING[key]
    if key == "arguments" and rest[:1] == ("tool_calls",):
        return "arguments.absent-in-request"
    values["field"] = _path((*error.place[2:], key))
    return "request.missing-field"


def _missing(error: SchemaError) -> str:
    """Return the key that is missing: the first word in quotes of what the schemas say of it."""
    return error.message.split('"')[1]


def _path(place: Place) -> str:
    """Return a place as refusals write it: `messages[2].tool_calls[0].type`."""
    return "".join(f"[{token}]" if isinstance(token, int) else f".{token}" for token in place).removeprefix(".")


def _of_content(error: SchemaError, rest: Place, message: Mapping[str, Any], value: Any) -> str | None:
    of_tool = message.get("role") == "tool"
    if len(rest) == 1 and of_tool and error.keyword == "type":
        return {type(None): "results.content-null", dict: "results.content-object"}.get(
            type(value), "request.wrong-type"
        )
    if len(rest) == 3 and rest[2] == "type" and isinstance(value, str):
        if of_tool and value == "image_url":
            return "results.image-parts"
        return None if value in _WIRE_TYPES else "request.unknown-part-type"
    is_bare = rest[-1] == "image_url" and isinstance(value, str)
    return "request.image-url-string" if is_bare else _of_type(error, value)


def _of_calls(error: SchemaError, rest: Place, value: Any) -> str | None:
    if len(rest) == 1:
        if error.keyword == "minItems":
            return "request.empty-tool-calls"
        return "request.null-tool-calls" if value is None else "request.wrong-type"
    last = rest[-1]
    if value is None and len(rest) == 3:
        return {"id": "ids.absent-in-request", "type": "request.call-without-type"}.get(str(last))
    if last == "arguments" and isinstance(value, dict):
        return "arguments.object-in-request"
    return _of_type(error, value)


def _of_type(error: SchemaError, value: Any) -> str | None:
    """Return the claim about wrong types; of null, which many take for nothing, others speak."""
    return "request.wrong-type" if error.keyword == "type" and value is not None else None


def _at(value: Any, place: Place) -> Any:
    for token in place:
        try:
            value = value[token]
        except (LookupError, TypeError):
            return None
    return value
