"""Streams end without the counts of tokens that the request asks for."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import chunks

SOURCE = "https://github.com/vllm-project/vllm/issues/25514"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("usage/present-when-asked", "shape/response")


def change(sent: Outgoing) -> Outgoing:
    """Remove the counts."""
    for chunk in chunks(sent):
        chunk.pop("usage", None)
    return sent
