"""A message with a call begins with an empty text block, which its own provider rejects."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/anthropics/anthropic-sdk-python/issues/461"
WIRES = ("messages",)
VARIANTS = (PLAIN,)
BREAKS = ("messages/reply-text-not-empty", "messages/text-not-empty")


def change(sent: Outgoing) -> Outgoing:
    """Insert the block."""
    if sent.calls():
        sent.body["content"].insert(0, {"type": "text", "text": ""})
    return sent
