"""A chunk repeats the call of the chunk before, without its signature."""

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://github.com/allenhutchison/obsidian-gemini/pull/230"
WIRES = ("gemini",)
VARIANTS = (STREAM,)
BREAKS = ("gemini/call-ids-unique",)
RELATED = ("gemini/nothing-after-finish",)


def change(sent: Outgoing) -> Outgoing:
    """Repeat each chunk that holds a signed call."""
    events: list[NativeEvent] = []
    for event in sent.events or ():
        content = event.value["candidates"][0]["content"]
        calls = [each for each in content["parts"] if "functionCall" in each and "thoughtSignature" in each]
        events.append(event)
        if calls:
            parts = [{"functionCall": each["functionCall"]} for each in calls]
            candidate = {**event.value["candidates"][0], "content": {**content, "parts": parts}}
            events.append(NativeEvent("", {**event.value, "candidates": [candidate]}))
    return sent._replace(events=tuple(events))
