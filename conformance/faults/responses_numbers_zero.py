"""Every event of a stream has the sequence_number 0."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/BerriAI/litellm/pull/28899"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/sequence-number-rises",)


def change(sent: Outgoing) -> Outgoing:
    """Write 0."""
    for event in sent.objects(lambda value: "sequence_number" in value):
        event["sequence_number"] = 0
    return sent
