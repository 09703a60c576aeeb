"""A response that is completed has no items."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/BerriAI/litellm/issues/40477"
WIRES = ("responses",)
VARIANTS = (PLAIN,)
BREAKS = ("response/message-not-empty", "probes/results-paired")


def change(sent: Outgoing) -> Outgoing:
    """Empty the output of a response without calls."""
    if not sent.calls():
        sent.body["output"] = []
    return sent
