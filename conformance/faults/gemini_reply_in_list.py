"""A reply that was not streamed is a list of replies."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/OpenHands/OpenHands/issues/7915"
WIRES = ("gemini",)
VARIANTS = (PLAIN,)
BREAKS = ("http/streams-when-asked",)


def change(sent: Outgoing) -> Outgoing:
    """Put the reply into a list."""
    return sent._replace(body=[sent.body])
