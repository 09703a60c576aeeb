"""The response at the end of a stream has none of the items that were streamed."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/QuantumNous/new-api/issues/4362"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/deltas-add-up",)


def change(sent: Outgoing) -> Outgoing:
    """Empty the output."""
    for response in sent.objects(lambda value: value.get("status") == "completed" and "output" in value):
        response["output"] = []
    return sent
