"""Replies have more headers than documented."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://www.rfc-editor.org/rfc/rfc9110#section-5.1"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Add a header."""
    return sent.with_headers(x_request_id="1", x_ratelimit_remaining="99")
