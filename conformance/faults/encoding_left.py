"""A reply that a proxy has decompressed still says that it is compressed."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/qualixar/superlocalmemory/pull/79"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("http/body-complete", "ended", "stopped")


def change(sent: Outgoing) -> Outgoing:
    """Leave the header."""
    return sent.with_headers(content_encoding="gzip")
