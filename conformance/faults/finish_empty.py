"""The finish reason is an empty text."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import choices

SOURCE = "https://github.com/evalstate/fast-agent/pull/276"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("response/finish-reason-claimed", "shape/choice", "shape/chunk", "response/finish-reason-matches-tool-calls")


def change(sent: Outgoing) -> Outgoing:
    """Empty every reason."""
    for choice in choices(sent):
        if choice.get("finish_reason"):
            choice["finish_reason"] = ""
    return sent
