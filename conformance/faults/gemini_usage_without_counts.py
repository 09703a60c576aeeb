"""The usage has no counts."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/neuron-core/neuron-ai/pull/443"
WIRES = ("gemini",)
VARIANTS = BOTH
BREAKS = ("usage/adds-up",)


def change(sent: Outgoing) -> Outgoing:
    """Leave the type of traffic alone."""
    for reply in sent.objects(lambda value: "usageMetadata" in value):
        reply["usageMetadata"] = {"trafficType": "ON_DEMAND"}
    return sent
