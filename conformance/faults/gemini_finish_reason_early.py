"""A stream begins with an empty chunk that has the finish reason STOP."""

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://github.com/Chevey339/kelivo/issues/1003"
WIRES = ("gemini",)
VARIANTS = (STREAM,)
BREAKS = ("gemini/nothing-after-finish",)


def change(sent: Outgoing) -> Outgoing:
    """Insert two such chunks."""
    candidate = {"content": {"role": "model", "parts": []}, "index": 0, "finishReason": "STOP"}
    first = NativeEvent("", {"candidates": [candidate], "modelVersion": sent.values[0]["modelVersion"]})
    return sent._replace(events=(first, first, *(sent.events or ())))
