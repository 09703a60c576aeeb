"""The reasoning of an earlier turn comes again.

The report is about chat completions; servers do the same on other wires.
"""

from conformance.faults import BOTH, Outgoing
from conformance.faults._answers import reasoning

SOURCE = "https://github.com/sgl-project/sglang/issues/29512"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("reasoning/not-of-earlier-turn",)


def change(sent: Outgoing) -> Outgoing:
    """Send the reasoning of the first reply that had some."""
    first = next((reasoning(each).whole for each in sent.earlier if reasoning(each).whole), "")
    if first:
        reasoning(sent).write(first)
    return sent
