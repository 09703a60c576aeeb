"""Of streamed reasoning, only the first chunk is marked."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/earendil-works/pi/issues/391"
WIRES = ("gemini",)
VARIANTS = (STREAM,)
BREAKS = ()


def change(sent: Outgoing) -> Outgoing:
    """Remove the mark from the others."""
    for part in sent.objects(lambda value: value.get("thought") is True)[1:]:
        del part["thought"]
    return sent
