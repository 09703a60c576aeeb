"""The indexes of the blocks of a streamed message skip a number."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/QuantumNous/new-api/issues/5482"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)


def change(sent: Outgoing) -> Outgoing:
    """Raise each index but 0 by one."""
    for event in sent.objects(lambda value: isinstance(value.get("index"), int) and value["index"] > 0):
        event["index"] += 1
    return sent
