"""The content ends with a special token of the model."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls, set_text, text

SOURCE = "https://github.com/smg-project/smg/issues/1111"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("response/no-markup-in-content",)


def change(sent: Outgoing) -> Outgoing:
    """Append the token to answers."""
    if text(sent) and not calls(sent):
        set_text(sent, text(sent) + "<|im_end|>")
    return sent
