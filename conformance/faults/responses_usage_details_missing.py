"""The usage has no details."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/lobehub/lobehub/pull/18875"
WIRES = ("responses",)
VARIANTS = BOTH
BREAKS = ("responses/usage-details-counted",)


def change(sent: Outgoing) -> Outgoing:
    """Remove them."""
    for usage in sent.objects(lambda value: "input_tokens_details" in value):
        del usage["input_tokens_details"], usage["output_tokens_details"]
    return sent
