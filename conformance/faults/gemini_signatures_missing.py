"""Calls have no signature, though the next request needs them."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/earendil-works/pi/pull/1825"
WIRES = ("gemini",)
VARIANTS = BOTH
BREAKS = ("gemini/reply-call-signed",)


def change(sent: Outgoing) -> Outgoing:
    """Remove all signatures."""
    for part in sent.objects(lambda value: "thoughtSignature" in value):
        del part["thoughtSignature"]
    return sent
