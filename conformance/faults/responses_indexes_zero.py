"""All items of a stream have the output_index 0."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/teabranch/open-responses-server/pull/63"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/indexes-contiguous",)


def change(sent: Outgoing) -> Outgoing:
    """Write 0."""
    for event in sent.objects(lambda value: "output_index" in value):
        event["output_index"] = 0
    return sent
