"""A reply has null in place of choices."""

from conformance.faults import PLAIN, Outgoing
from conformance.faults._chat import chunks

SOURCE = "https://github.com/decolua/9router/issues/2727"
WIRES = ("chat",)
VARIANTS = (PLAIN,)
BREAKS = ("shape/response", "ended", "response/*")


def change(sent: Outgoing) -> Outgoing:
    """Replace the choices."""
    for chunk in chunks(sent):
        chunk["choices"] = None
    return sent
