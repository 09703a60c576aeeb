"""Refusals say nothing of the cause."""

from conformance.faults import BOTH, REFUSED, Outgoing

SOURCE = "https://github.com/musistudio/claude-code-router/issues/1558"
WIRES = ("chat", "messages", "responses", "gemini")
VARIANTS = BOTH
BREAKS = ("probes/*",)
ON = REFUSED


def change(sent: Outgoing) -> Outgoing:
    """Replace the text of the error."""
    for each in sent.objects(lambda value: isinstance(value.get("message"), str)):
        each["message"] = "Provider returned error"
    return sent
