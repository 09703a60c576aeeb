"""Replies end with the stop reason of another wire."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import choices

SOURCE = "https://github.com/aws-samples/bedrock-access-gateway/issues/11"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("response/finish-reason-claimed", "response/finish-reason-matches-tool-calls", "shape/choice", "shape/chunk")


def change(sent: Outgoing) -> Outgoing:
    """Replace every reason."""
    for choice in choices(sent):
        if choice.get("finish_reason"):
            choice["finish_reason"] = "end_turn"
    return sent
