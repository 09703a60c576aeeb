"""A message has no id."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/agentscope-ai/agentscope-java/issues/592"
WIRES = ("messages",)
VARIANTS = BOTH
BREAKS = ("native/reply-shape",)
RELATED = ("native/event-shape",)


def change(sent: Outgoing) -> Outgoing:
    """Remove it."""
    for message in sent.objects(lambda value: value.get("type") == "message"):
        del message["id"]
    return sent
