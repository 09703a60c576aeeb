"""The ids of calls begin again in every reply, in the format that the provider claims."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls

SOURCE = "https://github.com/vllm-project/vllm/issues/50295"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/id-unique-in-conversation",)


def change(sent: Outgoing) -> Outgoing:
    """Give the calls of each reply the ids of the first reply with calls."""
    for each in sent.earlier:
        if first := calls(each):
            for call, other in zip(calls(sent), first, strict=False):
                call[0]["id"] = other[0]["id"]
            break
    return sent
