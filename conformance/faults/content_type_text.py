"""The content type of a plain reply is that of text."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/lobehub/lobehub/issues/12845"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (PLAIN,)
BREAKS = ("http/content-type-matches-body",)


def change(sent: Outgoing) -> Outgoing:
    """Replace the content type."""
    return sent.with_headers(content_type="text/plain; charset=utf-8")
