"""Every chunk of a stream has the finish reason STOP."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/fruitbars/simple-one-api/issues/32"
WIRES = ("gemini",)
VARIANTS = (STREAM,)
BREAKS = ("gemini/nothing-after-finish",)


def change(sent: Outgoing) -> Outgoing:
    """Write it to every chunk."""
    for candidate in sent.objects(lambda value: "content" in value):
        candidate.setdefault("finishReason", "STOP")
    return sent
