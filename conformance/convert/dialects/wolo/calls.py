"""Calls, results and reasoning of the wire, as wolo's parts hold them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from conformance.documents.pointer import Place
from conformance.wire.arguments import parse_call
from conformance.wire.losses import Losses
from conformance.wire.reasoning import TEXT_KEYS

SEPARATOR: Final = "\n"
"""The text between texts that are joined."""

UNFINISHED: Final = "The tool has not finished; there is no result."
"""The result of a call that has not ended."""

Reply: TypeAlias = Sequence[tuple[int, Mapping[str, Any]]]
"""The parts of one reply, each with its number in the message."""


def replies(message: Mapping[str, Any]) -> list[Reply]:
    """Return the replies that a message consists of: text after calls that have all ended starts another one."""
    found: list[list[tuple[int, Mapping[str, Any]]]] = [[]]
    for number, part in enumerate(message["parts"]):
        tools = [earlier for _, earlier in found[-1] if earlier["type"] == "tool"]
        if message["role"] == "assistant" and part.get("text") and tools and all(map(ended, tools)):
            found.append([])
        found[-1].append((number, part))
    return [*found]


def ended(part: Mapping[str, Any]) -> bool:
    """Return whether a call has ended, successfully or not."""
    return part.get("status") in ("completed", "failed")


def to_wire(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the call of a tool part; its input is written as Python does, with a space after colons and commas."""
    return {"id": part["id"], "type": "function", "function": {"name": part["tool"], "arguments": _text(part["input"])}}


def parsed(call: Mapping[str, Any], place: Place, losses: Losses) -> dict[str, Any]:
    """Return a call's arguments as an object, and note the losses of the call."""
    return parse_call(call, place, losses, "a tool part has only its input", _text)


def joined(content: Any) -> str:
    """Return a result's content as one string, as a tool part holds it."""
    return content if isinstance(content, str) else SEPARATOR.join([part["text"] for part in content])


def note_results(canonical: Sequence[Mapping[str, Any]], positions: Sequence[int], losses: Losses) -> None:
    """Note the losses of results that become part of their calls; the positions are in the order of the calls."""
    for position, ordered in zip(positions, sorted(positions), strict=True):
        if isinstance(canonical[position]["content"], list):
            losses.add((position, "content"), "an output is one string, so the parts are joined")
        if position != ordered:
            losses.add((position,), "results take the order of their calls")


def reasoning(message: Mapping[str, Any], position: int, losses: Losses) -> str:
    """Return a message's reasoning from either field; empty reasoning is lost, and noted."""
    names = [key for key in TEXT_KEYS if message.get(key) is not None]
    if "reasoning" in names:
        is_same = message["reasoning"] == message[names[0]]
        reason = "comes back as reasoning_content" if is_same else "a message has one reasoning, and it differs"
        losses.add((position, "reasoning"), reason)
    if names and not message[names[0]] and names != ["reasoning"]:
        losses.add((position, names[0]), "empty reasoning is left out")
    return str(message[names[0]]) if names else ""


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
