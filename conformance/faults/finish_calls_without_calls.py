"""A plain answer ends with the finish reason of calls."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls, choices

SOURCE = "https://github.com/vllm-project/vllm/issues/54808"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("response/finish-reason-matches-tool-calls",)


def change(sent: Outgoing) -> Outgoing:
    """Replace the reason of replies without calls."""
    for choice in choices(sent) if not calls(sent) else ():
        if choice.get("finish_reason"):
            choice["finish_reason"] = "tool_calls"
    return sent
