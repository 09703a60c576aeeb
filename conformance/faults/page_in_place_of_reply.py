"""Every reply is an HTML page with status 200."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/RakuenSoftware/aimee/pull/1427"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("stopped",)


def change(sent: Outgoing) -> Outgoing:
    """Send a page."""
    sent = sent._replace(content=b"<!doctype html><html><body>Sign in</body></html>")
    return sent.with_headers(content_type="text/html")
