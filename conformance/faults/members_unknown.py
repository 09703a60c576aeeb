"""Replies have a member that no profile names and that holds no text."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/BerriAI/litellm/issues/20433"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Add a number."""
    for value in sent.values:
        if isinstance(value, dict):
            value["x_region"] = 7
    return sent
