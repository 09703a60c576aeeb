"""Reasoning is a list of parts where the provider claims text."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import REASONING, messages

SOURCE = "https://github.com/pydantic/pydantic-ai/issues/9645"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("reasoning/in-claimed-field", "shape/choice", "shape/chunk")


def change(sent: Outgoing) -> Outgoing:
    """Write each text as a list."""
    for message in messages(sent):
        for name in REASONING:
            if message.get(name):
                message[name] = [{"type": "text", "text": message[name]}]
    return sent
