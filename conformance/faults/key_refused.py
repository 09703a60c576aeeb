"""The key is refused."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/agent0ai/agent-zero/issues/1027"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("stopped",)
TOGETHER = True


def change(sent: Outgoing) -> Outgoing:
    """Refuse every request."""
    body = {"error": {"message": "Authentication failed", "type": "authentication_error"}}
    return sent._replace(status=401, events=None, body=body).with_headers(content_type="application/json")
