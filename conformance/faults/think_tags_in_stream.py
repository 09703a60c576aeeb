"""Streamed reasoning comes as content, between `<think>` tags."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import messages, reasoning_field

SOURCE = "https://github.com/MiniMax-AI/MiniMax-M2/issues/18"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("reasoning/no-think-tags-in-content", "reasoning/in-claimed-field", "core/reasoning-field")


def change(sent: Outgoing) -> Outgoing:
    """Send the reasoning as content, with the tags in the first and the last piece."""
    field = reasoning_field(sent)
    holders = [each for each in messages(sent) if field and each.get(field)]
    for each in holders:
        each["content"] = each.pop(field)
    if holders:
        holders[0]["content"] = "<think>" + holders[0]["content"]
        holders[-1]["content"] += "</think>"
    return sent
