"""A stream ends without a finish reason."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/strands-agents/sdk-typescript/issues/717"
WIRES = ("gemini",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-complete",)


def change(sent: Outgoing) -> Outgoing:
    """Remove it."""
    for candidate in sent.objects(lambda value: "finishReason" in value):
        del candidate["finishReason"]
    return sent
