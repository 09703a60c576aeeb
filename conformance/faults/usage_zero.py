"""All counts of tokens are 0.

The report is about chat completions; servers do the same on other wires.
"""

from conformance.faults import BOTH, Outgoing
from conformance.faults._answers import counts

SOURCE = "https://github.com/tenstorrent/tt-inference-server/issues/3552"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("usage/not-zero-beside-text",)


def change(sent: Outgoing) -> Outgoing:
    """Set every count to 0."""
    for usage, key in counts(sent):
        usage[key] = 0
    return sent
