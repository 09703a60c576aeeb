"""Each delta of a stream repeats the whole reasoning so far."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import messages, reasoning_field

SOURCE = "https://github.com/MiniMax-AI/MiniMax-M2/issues/95"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/deltas-not-cumulative",)


def change(sent: Outgoing) -> Outgoing:
    """Send the reasoning from its beginning in each delta."""
    field, whole = reasoning_field(sent), ""
    for message in messages(sent):
        if field and message.get(field):
            whole += message[field]
            message[field] = whole
    return sent
