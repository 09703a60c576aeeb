"""A refusal is an array with one error."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/editor-code-assistant/eca/issues/247"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("error/body-shape", "error/*")
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Put the body into a list."""
    return sent._replace(body=[sent.body])
