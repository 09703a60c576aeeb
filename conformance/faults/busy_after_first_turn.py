"""Every request after the first turn gets status 429."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/Alishahryar1/free-claude-code/issues/1035"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("core/*",)
TOGETHER = True


def change(sent: Outgoing) -> Outgoing:
    """Refuse requests that hold a reply."""
    held = sent.request.get("messages") or sent.request.get("contents") or sent.request.get("input") or ()
    if len(held) > 2:
        body = {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}
        sent = sent._replace(status=429, events=None, body=body)
        sent = sent.with_headers(content_type="application/json", retry_after="0")
    return sent
