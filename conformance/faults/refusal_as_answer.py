"""A request that has to be refused is answered."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/theopenco/llmgateway/pull/2093"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("probes/*",)
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Answer as the last reply before did."""
    good = [each for each in sent.earlier if each.status == 200]
    return good[-1]._replace(request=sent.request) if good else sent
