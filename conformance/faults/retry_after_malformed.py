"""The header `Retry-After` holds neither a number of seconds nor a date."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/earendil-works/pi/issues/9571"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("http/retry-after-valid",)
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Send a date without a month."""
    return sent.with_headers(retry_after="Wed, 21 Oct-ish 07:28")
