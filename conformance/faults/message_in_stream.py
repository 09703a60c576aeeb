"""The chunks of a stream have a `message` in place of a `delta`."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import choices

SOURCE = "https://github.com/Amm1rr/WebAI-to-API/issues/55"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("shape/chunk", "ended")


def change(sent: Outgoing) -> Outgoing:
    """Rename the member."""
    for choice in choices(sent):
        choice["message"] = choice.pop("delta")
    return sent
