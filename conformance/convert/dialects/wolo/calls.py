"""Calls, results and reasoning of the wire, as wolo's parts need them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from conformance.convert.dialects import Losses, arguments
from conformance.documents.pointer import Place
from conformance.wire.reasoning import TEXT_KEYS

JOINT: Final = "\n"
"""What stands between texts that are combined into one."""

Reply: TypeAlias = Sequence[tuple[int, Mapping[str, Any]]]
"""The parts of one reply, each with its number in the message."""


def replies(message: Mapping[str, Any]) -> list[Reply]:
    """Return the replies that a message is made of: text behind calls that have all ended begins another one."""
    found: list[list[tuple[int, Mapping[str, Any]]]] = [[]]
    for number, part in enumerate(message["parts"]):
        tools = [each for _, each in found[-1] if each["type"] == "tool"]
        if message["role"] == "assistant" and part.get("text") and tools and all(map(ended, tools)):
            found.append([])
        found[-1].append((number, part))
    return [*found]


def ended(part: Mapping[str, Any]) -> bool:
    """Say whether a call is over, for good or ill."""
    return part.get("status") in ("completed", "failed")


def to_wire(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the call of a tool part; its input is written as Python writes it, a space after colons and commas."""
    return {"id": part["id"], "type": "function", "function": {"name": part["tool"], "arguments": _text(part["input"])}}


def parsed(call: Mapping[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    """Return a call's arguments as an object, and note what the call loses on the way."""
    return arguments(call, place, losses, "a tool part has nothing beside its input", _text)


def joined(content: Any) -> str:
    """Return a result's content as the one string that a tool part holds."""
    return content if isinstance(content, str) else JOINT.join([part["text"] for part in content])


def note_results(canonical: Sequence[Mapping[str, Any]], positions: Sequence[int], losses: Losses) -> None:
    """Note what the results at some positions, in the order of their calls, lose where each joins its call's part."""
    for position, ordered in zip(positions, sorted(positions), strict=True):
        if isinstance(canonical[position]["content"], list):
            losses.add((position, "content"), "an output is one string; the parts are joined")
        if position != ordered:
            losses.add((position,), "results take the order of their calls")


def reasoning(message: Mapping[str, Any], position: int, losses: Losses) -> str:
    """Return a message's reasoning under either flat name; an empty one is the same as none here, and noted."""
    names = [key for key in TEXT_KEYS if message.get(key) is not None]
    if "reasoning" in names:
        is_same = message["reasoning"] == message[names[0]]
        reason = "comes back as reasoning_content" if is_same else "there is one reasoning, and that is another"
        losses.add((position, "reasoning"), reason)
    if names and not message[names[0]] and names != ["reasoning"]:
        losses.add((position, names[0]), "empty reasoning is none here")
    return str(message[names[0]]) if names else ""


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
