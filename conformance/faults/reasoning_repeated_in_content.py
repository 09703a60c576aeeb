"""The content begins with the reasoning, which also has its own field."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import reasoning_field, set_text, text

SOURCE = "https://github.com/adolfousier/opencrabs/issues/760"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("reasoning/not-in-content",)


def change(sent: Outgoing) -> Outgoing:
    """Put the reasoning before the content."""
    field = reasoning_field(sent)
    if field and text(sent):
        set_text(sent, f"{text(sent, field)}\n\n{text(sent)}")
    return sent
