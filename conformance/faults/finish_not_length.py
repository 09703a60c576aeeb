"""A reply that the token limit cut ends with the finish reason of a whole one."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import arguments, calls, set_arguments, set_text, text, usages

SOURCE = "https://github.com/llm-d/llm-d-inference-sim/issues/29"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/arguments-are-an-object", "probes/results-paired")


def change(sent: Outgoing) -> Outgoing:
    """Cut calls and text in the middle and keep the reason."""
    for call in calls(sent):
        set_arguments(call, arguments(call)[: len(arguments(call)) // 2])
    if text(sent):
        set_text(sent, text(sent)[: len(text(sent)) // 3])
    for usage in usages(sent):
        usage["completion_tokens"] = sent.request.get("max_tokens") or sent.request.get("max_completion_tokens") or 2048
        usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
    return sent
