"""The status of a call is null."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/vllm-project/vllm/pull/46945"
WIRES = ("responses",)
VARIANTS = (PLAIN,)
BREAKS = ("responses/items-complete",)


def change(sent: Outgoing) -> Outgoing:
    """Write null."""
    for call in sent.calls():
        call["status"] = None
    return sent
