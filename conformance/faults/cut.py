"""A stream ends before the last fragment of a call, or after two thirds of its events."""

from collections.abc import Mapping
from typing import Any

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/anomalyco/opencode/issues/39968"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = {wire: ("stream/complete",) if wire == "chat" else ("native/stream-complete",) for wire in WIRES}

_FRAGMENTS = ("response.function_call_arguments.delta", "input_json_delta")
"""The types of events, or of the deltas in them, that hold a fragment of arguments."""


def change(sent: Outgoing) -> Outgoing:
    """Remove all that follows."""
    events = [each for each in sent.events or () if not isinstance(each.value, str)]
    fragments = [number for number, event in enumerate(events) if _is_fragment(event.value)]
    end = fragments[-1] if len(fragments) > 1 else max(1, len(events) * 2 // 3)
    return sent._replace(events=tuple(events[:end]))


def _is_fragment(value: Mapping[str, Any]) -> bool:
    delta = value.get("delta")
    kinds = (value.get("type"), delta.get("type") if isinstance(delta, dict) else None)
    choices = value.get("choices")
    return any(each in _FRAGMENTS for each in kinds) or bool(choices and "tool_calls" in choices[0]["delta"])
