"""A candidate that has stopped has one part, with empty text."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/livekit/agents/issues/4066"
WIRES = ("gemini",)
VARIANTS = (PLAIN,)
BREAKS = ("gemini/content-present",)


def change(sent: Outgoing) -> Outgoing:
    """Replace the parts of an answer."""
    if not sent.calls():
        for content in sent.objects(lambda value: "parts" in value):
            content["parts"] = [{"text": ""}]
    return sent
