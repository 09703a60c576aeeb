"""The proxy before the server gives up, with a page of its own and status 524."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/anomalyco/opencode/issues/24264"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("core/*", "stopped")
TOGETHER = True


def change(sent: Outgoing) -> Outgoing:
    """Replace every reply."""
    sent = sent._replace(status=524, content=b"<!doctype html><title>A timeout occurred</title>")
    return sent.with_headers(content_type="text/html")
