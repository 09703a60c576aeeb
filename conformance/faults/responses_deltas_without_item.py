"""The deltas of text come before their item is added."""

from collections.abc import Mapping
from typing import Any

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/BerriAI/litellm/pull/36375"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)


def change(sent: Outgoing) -> Outgoing:
    """Move what adds messages, and their parts, behind the deltas."""
    events = list(sent.events or ())
    late = [each for each in events if _adds_text(each.value)]
    kept = [each for each in events if each not in late]
    end = next((number for number, each in enumerate(kept) if each.name == "response.output_text.done"), len(kept))
    moved = (*kept[:end], *late, *kept[end:])
    for number, event in enumerate(moved):
        event.value["sequence_number"] = number
    return sent._replace(events=moved)


def _adds_text(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    is_message = kind == "response.output_item.added" and value["item"]["type"] == "message"
    return is_message or kind == "response.content_part.added"
