"""The counts of tokens add up over all requests of a session.

The report is about chat completions; servers do the same on other wires.
"""

from collections import Counter

from conformance.faults import BOTH, Outgoing
from conformance.faults._answers import counts

SOURCE = "https://github.com/QuantumNous/new-api/issues/1109"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("usage/not-cumulative",)


def change(sent: Outgoing) -> Outgoing:
    """Add the counts of all earlier replies, of which the last that has one counts."""
    before: Counter[str] = Counter()
    for each in sent.earlier:
        before.update({key: usage[key] for usage, key in counts(each)})
    for usage, key in counts(sent):
        usage[key] += before[key]
    return sent
