"""A refusal is JSON, and its content type says that it is binary."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/SaladDay/cc-switch-cli/issues/170"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("http/content-type-matches-body",)
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Replace the content type."""
    return sent.with_headers(content_type="application/octet-stream")
