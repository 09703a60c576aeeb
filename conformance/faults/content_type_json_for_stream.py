"""The content type of a stream is that of JSON."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/microsoft/foundry-dev-tools/issues/195"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ("http/content-type-matches-body",)


def change(sent: Outgoing) -> Outgoing:
    """Replace the content type."""
    return sent.with_headers(content_type="application/json")
