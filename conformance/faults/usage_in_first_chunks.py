"""The chunks of a stream count zero tokens until the last one does."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import chunks

SOURCE = "https://github.com/MiniMax-AI/MiniMax-M2.5/issues/2"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("usage/reported-once",)


def change(sent: Outgoing) -> Outgoing:
    """Count nothing in every chunk without counts."""
    for chunk in chunks(sent):
        if not chunk.get("usage"):
            chunk["usage"] = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    return sent
