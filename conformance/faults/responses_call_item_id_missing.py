"""Calls have a call_id, but as items no id."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/ggml-org/llama.cpp/pull/24882"
WIRES = ("responses",)
VARIANTS = (PLAIN,)
BREAKS = ("responses/items-complete",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the ids of the items."""
    for call in sent.calls():
        del call["id"]
    return sent
