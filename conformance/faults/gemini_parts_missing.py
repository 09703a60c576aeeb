"""A candidate that has stopped has content without parts."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/BerriAI/litellm/issues/24442"
WIRES = ("gemini",)
VARIANTS = (PLAIN,)
BREAKS = ("gemini/content-present",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the parts of an answer."""
    if not sent.calls():
        for content in sent.objects(lambda value: "parts" in value):
            del content["parts"]
    return sent
