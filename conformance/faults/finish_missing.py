"""Replies have no finish reason."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import choices

SOURCE = "https://github.com/sgl-project/sglang/pull/446"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = (
    "stream/complete",
    "shape/choice",
    "shape/chunk",
    "stream/one-finish-reason",
    "response/finish-reason-matches-tool-calls",
    "ended",
)


def change(sent: Outgoing) -> Outgoing:
    """Remove every reason."""
    for choice in choices(sent):
        if choice.get("finish_reason"):
            choice["finish_reason"] = None
    return sent
