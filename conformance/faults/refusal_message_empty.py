"""The message of a refusal is empty."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/Ikaros-521/AI-Vtuber/issues/98"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("error/message-not-empty", "probes/*")
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Remove the words of every message."""
    for each in sent.objects(lambda value: isinstance(value.get("message"), str)):
        each["message"] = ""
    return sent
