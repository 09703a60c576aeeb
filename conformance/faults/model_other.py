"""Another model replies than the one that was asked for.

The report is about chat completions; servers do the same on other wires.
"""

from conformance.faults import BOTH, Outgoing
from conformance.faults._answers import MODEL, envelopes

SOURCE = "https://github.com/QuantumNous/new-api/pull/7418"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("response/model-as-requested",)


def change(sent: Outgoing) -> Outgoing:
    """Name the other model."""
    for each in envelopes(sent):
        each[MODEL.get(sent.wire, "model")] = "gpt-3.5-turbo"
    return sent
