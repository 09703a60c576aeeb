"""All replies have the same id.

The report is about chat completions; servers do the same on other wires.
"""

from conformance.faults import BOTH, Outgoing
from conformance.faults._answers import ID, envelopes

SOURCE = "https://github.com/NVIDIA-NeMo/Switchyard/issues/502"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("response/id-unique-in-session",)


def change(sent: Outgoing) -> Outgoing:
    """Give each reply the id of the first."""
    key = ID.get(sent.wire, "id")
    first = next((each[key] for reply in sent.earlier for each in envelopes(reply)), None)
    for each in envelopes(sent):
        each[key] = first or each[key]
    return sent
