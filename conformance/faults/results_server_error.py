"""Every request with a tool result gets status 500."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import results

SOURCE = "https://github.com/ggml-org/llama.cpp/issues/25510"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("core/*", "ended")


def change(sent: Outgoing) -> Outgoing:
    """Fail on requests that end with a result."""
    if results(sent.request):
        body = {"error": {"code": 500, "message": "Failed to parse input", "type": "server_error"}}
        sent = sent._replace(status=500, events=None, body=body).with_headers(content_type="application/json")
    return sent
