"""The fragment that begins a streamed call has no arguments, not even an empty text."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import calls

SOURCE = "https://github.com/moeru-ai/xsai/issues/235"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/first-fragment-has-arguments",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the empty arguments of each first fragment that others follow."""
    for first, *others in calls(sent):
        if others and not first["function"].get("arguments"):
            first["function"].pop("arguments", None)
    return sent
