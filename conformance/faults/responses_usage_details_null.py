"""The counts of cached and of reasoning tokens are null."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/NVIDIA-NeMo/Gym/issues/3313"
WIRES = ("responses",)
VARIANTS = BOTH
BREAKS = ("responses/usage-details-counted",)


def change(sent: Outgoing) -> Outgoing:
    """Write null."""
    for usage in sent.objects(lambda value: "input_tokens_details" in value):
        usage["input_tokens_details"] = {"cached_tokens": None}
        usage["output_tokens_details"] = {"reasoning_tokens": None}
    return sent
