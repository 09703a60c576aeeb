"""Every request is refused, since the model is unknown."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/Alishahryar1/free-claude-code/issues/946"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("ended", "stopped")


def change(sent: Outgoing) -> Outgoing:
    """Refuse every request."""
    body = {"error": {"message": "No such model", "type": "invalid_request_error"}}
    return sent._replace(status=400, events=None, body=body).with_headers(content_type="application/json")
