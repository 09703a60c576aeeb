"""Every request gets status 429."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/open-webui/computer/issues/293"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("core/*", "stopped")
TOGETHER = True


def change(sent: Outgoing) -> Outgoing:
    """Refuse every request, for now."""
    body = {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}
    sent = sent._replace(status=429, events=None, body=body)
    return sent.with_headers(content_type="application/json", retry_after="0")
