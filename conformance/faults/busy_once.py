"""The first request of each body gets status 429, and is answered when it is sent again."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/open-webui/computer/issues/293"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Refuse what was not sent before."""
    if any(each.request == sent.request for each in sent.earlier):
        return sent
    body = {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}
    sent = sent._replace(status=429, events=None, body=body)
    return sent.with_headers(content_type="application/json", retry_after="0")
