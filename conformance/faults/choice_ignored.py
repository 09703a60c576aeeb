"""A forced tool choice is ignored: the model answers with text."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import choices, messages

SOURCE = "https://github.com/vllm-project/vllm/issues/54808"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/required-choice-obeyed", "tool-calls/named-choice-obeyed", "probes/arguments-echoed")
AT = {"chat": "openai"}


def change(sent: Outgoing) -> Outgoing:
    """Answer requests that force a call."""
    choice = sent.request.get("tool_choice")
    if choice == "required" or isinstance(choice, dict):
        for message in messages(sent):
            message.pop("tool_calls", None)
        messages(sent)[-1]["content"] = "I would call the tool for that."
        for each in choices(sent):
            if each.get("finish_reason"):
                each["finish_reason"] = "stop"
    return sent
