"""Reasoning comes in a field that no provider claims."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import REASONING, messages

SOURCE = "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/378"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("reasoning/in-claimed-field", "core/reasoning-field", "response/no-unknown-text-fields")


def change(sent: Outgoing) -> Outgoing:
    """Rename the field."""
    for message in messages(sent):
        for name in REASONING:
            if name in message:
                message["thinking_text"] = message.pop(name)
    return sent
