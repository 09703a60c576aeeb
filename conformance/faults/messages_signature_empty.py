"""The signature of thinking is empty."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/dwgx/WindsurfAPI/pull/228"
WIRES = ("messages",)
VARIANTS = BOTH
BREAKS = ("messages/reply-thinking-signed",)


def change(sent: Outgoing) -> Outgoing:
    """Empty each signature."""
    for holder in sent.objects(lambda value: "signature" in value):
        holder["signature"] = ""
    return sent
