"""All calls are lost, and the finish reason still says that there are some."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import messages

SOURCE = "https://github.com/vllm-project/vllm/issues/44326"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("response/finish-reason-matches-tool-calls",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the calls."""
    for message in messages(sent):
        message.pop("tool_calls", None)
    return sent
