"""Refusals are plain text, not JSON."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/cline/cline/issues/230"
WIRES = ("chat", "messages")
VARIANTS = BOTH
BREAKS = ("probes/*", "error/body-shape", "error/body-is-object")
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Send the text of the error alone."""
    said = sent.objects(lambda value: isinstance(value.get("message"), str))
    words = said[0]["message"] if said else "Bad Request"
    return sent._replace(body=words).with_headers(content_type="text/plain; charset=utf-8")
