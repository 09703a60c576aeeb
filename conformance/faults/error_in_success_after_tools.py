"""Every reply to a tool result is an error with status 200."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import results

SOURCE = "https://github.com/nodetool-ai/nodetool/pull/5755"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("ended", "error/no-error-in-success")


def change(sent: Outgoing) -> Outgoing:
    """Send an error in reply to results."""
    if results(sent.request):
        body = {"error": {"message": "Provider returned error", "code": 502}}
        sent = sent._replace(events=None, body=body).with_headers(content_type="application/json")
    return sent
