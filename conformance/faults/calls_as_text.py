"""Calls stand as JSON in the content, and the reply ends as a plain answer does."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import arguments, calls, choices, messages

SOURCE = "https://github.com/huggingface/smolagents/issues/1119"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("response/no-markup-in-content", "ended: *markup*", "ended: *call*")


def change(sent: Outgoing) -> Outgoing:
    """Write each call as one object."""
    made = [(call[0]["function"]["name"], arguments(call)) for call in calls(sent)]
    if made:
        for message in messages(sent):
            message.pop("tool_calls", None)
        said = "\n".join([f'{{"name": "{name}", "parameters": {given}}}' for name, given in made])
        messages(sent)[-1]["content"] = said
        for choice in choices(sent):
            if choice.get("finish_reason"):
                choice["finish_reason"] = "stop"
    return sent
