"""The content of a candidate has no role."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/brekkylab/ailoy/issues/425"
WIRES = ("gemini",)
VARIANTS = BOTH
BREAKS = ("gemini/reply-role",)


def change(sent: Outgoing) -> Outgoing:
    """Remove it."""
    for content in sent.objects(lambda value: value.get("role") == "model"):
        del content["role"]
    return sent
