"""The messages of a browser's Prompt API: one interface per role, content as text or parts, arguments as objects.

A reply is a `RequestResult` of several runs; `to_canonical` converts a result to the messages of its runs, and
`results` converts both ways. Another form of the same value is not a loss: the `type` of a call always comes back, and
bytes and `data:` URLs come back as base64 with a `mimeType`. Source: github.com/webmachinelearning/prompt-api, issue
209.
"""

from collections.abc import Mapping
from typing import Any, Final

from conformance.convert.dialects import CANONICAL, INPUT, checked
from conformance.convert.dialects.prompt_api import parts
from conformance.convert.dialects.prompt_api.results import (
    Miscount,
    RunMetadata,
    extends,
    from_result,
    miscounts,
    partials,
    run_metadata,
    to_result,
    to_results,
)
from conformance.wire.losses import Converted, Losses

__all__ = [
    "TITLE",
    "Miscount",
    "RunMetadata",
    "extends",
    "from_result",
    "miscounts",
    "partials",
    "run_metadata",
    "to_canonical",
    "to_native",
    "to_result",
    "to_results",
]

TITLE: Final = "The messages of a browser's Prompt API: content in parts, and results of several runs."


def to_canonical(native: Any, file: str = INPUT) -> Converted:
    """Return the canonical transcript of a list of messages, or of the runs of a RequestResult.

    The `data` of images and sounds may be `bytes`; in the canonical transcript it is base64.
    """
    return _transcript(parts.bytes_to_base64(native), file)


@checked("prompt-api", CANONICAL)
def _transcript(native: Any) -> Converted:
    if isinstance(native, Mapping):
        return from_result(native)
    losses = Losses()
    return losses.converted([_to_wire(message, number, losses) for number, message in enumerate(native)])


@checked(CANONICAL, "prompt-api")
def to_native(canonical: list[dict[str, Any]]) -> Converted:
    """Return the messages for a canonical transcript; arguments whose text changes when parsed are named as lost."""
    losses = Losses()
    return losses.converted([_from_wire(message, number, losses) for number, message in enumerate(canonical)])


def _to_wire(message: Mapping[str, Any], number: int, losses: Losses) -> dict[str, Any]:
    role = message["role"]
    result: dict[str, Any] = {"role": role}
    if role == "tool":
        result["tool_call_id"] = message["toolCallId"]
    if "content" in message:
        result["content"] = parts.content_to_wire(message["content"], (number, "content"), role, losses)
    if "thinking" in message:
        result["reasoning_content"] = message["thinking"]
    if message.get("toolCalls"):
        result["tool_calls"] = [parts.call_to_wire(call["id"], **call["function"]) for call in message["toolCalls"]]
    elif "toolCalls" in message:
        losses.add((number, "toolCalls"), "an empty list of calls is left out on the wire")
    if "name" in message:
        losses.add((number, "name"), "a tool message of the wire has the id of its call, not the name of the tool")
    return result


def _from_wire(message: Mapping[str, Any], number: int, losses: Losses) -> dict[str, Any]:
    role = message["role"]
    if role == "tool":
        body = parts.content_from_wire(message["content"], (number, "content"), role, losses)
        return {"role": role, "toolCallId": message["tool_call_id"], "content": body}
    for key in ("name", "refusal", "audio", "reasoning_details"):
        if message.get(key) is not None:
            losses.add((number, key), f"a message of the {role} has no such field")
    if role == "developer":
        losses.add((number, "role"), "the Prompt API has no developer role; comes back as system")
        role = "system"
    result: dict[str, Any] = {"role": role}
    if message.get("content") is not None:
        result["content"] = parts.content_from_wire(message["content"], (number, "content"), role, losses)
    if role == "assistant":
        thinking = parts.thinking(message, number, losses)
        if thinking is not None:
            result["thinking"] = thinking
        if message.get("tool_calls"):
            place = (number, "tool_calls")
            result["toolCalls"] = [
                parts.call_from_wire(call, (*place, position), losses)
                for position, call in enumerate(message["tool_calls"])
            ]
    return result
