"""The date of a reply is a text."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import chunks

SOURCE = "https://github.com/tensorchord/modelz-llm/issues/83"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("shape/response", "shape/chunk")


def change(sent: Outgoing) -> Outgoing:
    """Write the date as text."""
    for chunk in chunks(sent):
        if "created" in chunk:
            chunk["created"] = "2023-06-20T19:58:12.437203"
    return sent
