"""Every request with a tool result is refused."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import results

SOURCE = "https://github.com/deepinfra/none"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("ended",)


def change(sent: Outgoing) -> Outgoing:
    """Refuse requests that end with a result."""
    if results(sent.request):
        message = "Input should be a valid string"
        sent = sent._replace(
            status=422, events=None, body={"error": {"message": message, "type": "invalid_request_error"}}
        )
        sent = sent.with_headers(content_type="application/json")
    return sent
