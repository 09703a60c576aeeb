"""A stream has no content type."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/nearai/private-ml-sdk/pull/20"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = (STREAM,)
BREAKS = ("http/content-type-matches-body", "http/body-is-object-or-stream")


def change(sent: Outgoing) -> Outgoing:
    """Remove the content type."""
    return sent._replace(headers={key: value for key, value in sent.headers.items() if key != "content-type"})
