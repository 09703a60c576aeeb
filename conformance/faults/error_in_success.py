"""Every reply is an error with status 200."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/azrtydxb/Fastllm-proxy/issues/28"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("ended", "error/no-error-in-success")


def change(sent: Outgoing) -> Outgoing:
    """Send the error of the upstream."""
    body = {"error": {"message": "Upstream error: Worker local total request limit reached", "code": 502}}
    return sent._replace(events=None, body=body).with_headers(content_type="application/json")
