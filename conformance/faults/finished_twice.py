"""A stream has two chunks with a finish reason."""

from typing import Any

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/skye-harris/hass_local_openai_llm/pull/92"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/one-finish-reason",)
RELATED = ("usage/reported-once",)


def change(sent: Outgoing) -> Outgoing:
    """Repeat the chunk that finishes."""
    events = sent.events or ()
    at = next((number for number, each in enumerate(events) if _is_last(each.value)), len(events))
    return sent._replace(events=(*events[: at + 1], *events[at : at + 1], *events[at + 1 :]))


def _is_last(value: Any) -> bool:
    choices: Any = value.get("choices") if isinstance(value, dict) else None
    return bool(choices) and choices[0].get("finish_reason") is not None
