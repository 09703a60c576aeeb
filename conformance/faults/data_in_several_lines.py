"""The data of an event is divided over several lines, which the standard allows."""

import json

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://github.com/SamSaffron/term-llm/pull/454"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Write the JSON of each event in lines."""
    shown = [_in_lines(each) for each in sent.events or ()]
    return sent._replace(content="".join(shown).encode())


def _in_lines(event: NativeEvent) -> str:
    if isinstance(event.value, str):
        return event.value
    name = f"event: {event.name}\n" if event.name else ""
    lines = json.dumps(event.value, indent=0, ensure_ascii=False).split("\n")
    return name + "".join([f"data: {line}\n" for line in lines]) + "\n"
