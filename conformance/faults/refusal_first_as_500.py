"""One request that has to be refused gets status 500, each time it is sent; the others are refused."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/coddy-project/coddy-agent/issues/322"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("probes/*",)
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Replace the status of the first refused request of the session."""
    first = next((each.request for each in sent.earlier if each.status != 200), sent.request)
    return sent._replace(status=500) if sent.request == first else sent
