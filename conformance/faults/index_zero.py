"""All calls of a streamed reply have index 0.

Clients that assemble fragments by index merge the calls into one.
"""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/ollama/ollama/issues/15457"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/index-distinct",)


def change(sent: Outgoing) -> Outgoing:
    """Set the index of every fragment."""
    for fragment in sent.objects(lambda value: "function" in value and "index" in value):
        fragment["index"] = 0
    return sent
