"""The events of a stream have no sequence_number."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/diegosouzapw/OmniRoute/issues/13964"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/sequence-number-rises",)


def change(sent: Outgoing) -> Outgoing:
    """Remove it."""
    for event in sent.objects(lambda value: "sequence_number" in value):
        del event["sequence_number"]
    return sent
