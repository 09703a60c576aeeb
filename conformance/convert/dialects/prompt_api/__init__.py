"""The messages of a browser's Prompt API: one interface a role, content as text or as parts, arguments as objects.

A reply is a `RequestResult` of several runs; `results` takes it apart and puts it together, and a result given to
`to_canonical` becomes the messages that its runs stand for. What is the same said otherwise is no loss: a call's
`type` is always told on the way back, and bytes and `data:` URLs come back as base64 beside their `mimeType`.
Source: github.com/webmachinelearning/prompt-api, issue 209.
"""

from collections.abc import Mapping
from typing import Any, Final

from conformance.convert.dialects import Converted, Losses
from conformance.convert.dialects.prompt_api import calls, content
from conformance.convert.dialects.prompt_api.results import (
    Kept,
    Miscount,
    extends,
    from_result,
    kept,
    miscounts,
    partials,
    to_result,
    to_results,
)

__all__ = [
    "TITLE",
    "Kept",
    "Miscount",
    "extends",
    "from_result",
    "kept",
    "miscounts",
    "partials",
    "to_canonical",
    "to_native",
    "to_result",
    "to_results",
]

TITLE: Final = "The messages of a browser's Prompt API: content in parts, and results of several runs."


def to_canonical(native: Any) -> Converted:
    """Return the canonical transcript of a list of messages, or of the runs of a RequestResult.

    `data` of images and sounds may be `bytes`; the canonical transcript has it as base64.
    """
    if isinstance(native, Mapping):
        return from_result(native)
    losses = Losses()
    return losses.converted([_to_wire(message, number, losses) for number, message in enumerate(native)])


def to_native(canonical: list[dict[str, Any]]) -> Converted:
    """Return the messages for a canonical transcript; arguments are parsed, and named where that changes them."""
    losses = Losses()
    return losses.converted([_from_wire(message, number, losses) for number, message in enumerate(canonical)])


def _to_wire(message: Mapping[str, Any], number: int, losses: Losses) -> dict[str, Any]:
    role = message["role"]
    result: dict[str, Any] = {"role": role}
    if role == "tool":
        result["tool_call_id"] = message["toolCallId"]
    if "content" in message:
        result["content"] = content.to_wire(message["content"], (number, "content"), role, losses)
    if "thinking" in message:
        result["reasoning_content"] = message["thinking"]
    if message.get("toolCalls"):
        result["tool_calls"] = [calls.to_wire(call["id"], **call["function"]) for call in message["toolCalls"]]
    elif "toolCalls" in message:
        losses.add((number, "toolCalls"), "an empty list of calls; the wire leaves the key out")
    if "name" in message:
        losses.add((number, "name"), "a tool message of the wire names its call, not the tool")
    return result


def _from_wire(message: Mapping[str, Any], number: int, losses: Losses) -> dict[str, Any]:
    role = message["role"]
    if role == "tool":
        body = content.from_wire(message["content"], (number, "content"), role, losses)
        return {"role": role, "toolCallId": message["tool_call_id"], "content": body}
    for key in ("name", "refusal", "audio", "reasoning_details"):
        if message.get(key) is not None:
            losses.add((number, key), f"a message of the {role} has no such field")
    if role == "developer":
        losses.add((number, "role"), "there is no developer here; the message becomes the system's")
        role = "system"
    result: dict[str, Any] = {"role": role}
    if message.get("content") is not None:
        result["content"] = content.from_wire(message["content"], (number, "content"), role, losses)
    if role == "assistant":
        thinking = content.thinking(message, number, losses)
        if thinking is not None:
            result["thinking"] = thinking
        if message.get("tool_calls"):
            place = (number, "tool_calls")
            result["toolCalls"] = [
                calls.from_wire(call, (*place, each), losses) for each, call in enumerate(message["tool_calls"])
            ]
    return result
