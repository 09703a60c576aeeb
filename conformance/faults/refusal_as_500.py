"""Every refusal of a request is answered with status 500."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/coddy-project/coddy-agent/issues/322"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("probes/*",)
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Replace the status."""
    return sent._replace(status=500)
