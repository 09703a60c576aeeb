"""One part holds both text and a call."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/NousResearch/hermes-agent/pull/109862"
WIRES = ("gemini",)
VARIANTS = BOTH
BREAKS = ("native/reply-shape",)
RELATED = ("native/event-shape",)


def change(sent: Outgoing) -> Outgoing:
    """Add text to each part that calls."""
    for part in sent.objects(lambda value: "functionCall" in value):
        part["text"] = "Let me check."
    return sent
