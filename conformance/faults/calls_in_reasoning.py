"""A call stays in the reasoning as markup, and the reply ends without it."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import arguments, calls, choices, messages, reasoning_field, set_text, text

SOURCE = "https://github.com/ggml-org/llama.cpp/pull/26849"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = (
    "reasoning/no-markup",
    "ended: *markup*",
)


def change(sent: Outgoing) -> Outgoing:
    """Write each call into the reasoning."""
    made = [(call[0]["function"]["name"], arguments(call)) for call in calls(sent)]
    field = reasoning_field(sent)
    if made and field:
        for message in messages(sent):
            message.pop("tool_calls", None)
        said = "\n".join([f"<tool_call>\n<function={name}>{given}</function>\n</tool_call>" for name, given in made])
        set_text(sent, f"{text(sent, field)}\n{said}", field)
        for choice in choices(sent):
            if choice.get("finish_reason"):
                choice["finish_reason"] = "stop"
    return sent
