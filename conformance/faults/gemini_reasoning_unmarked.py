"""Reasoning is text as any other, behind a heading."""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/googleapis/python-genai/issues/2121"
WIRES = ("gemini",)
VARIANTS = BOTH
BREAKS = ("reasoning/in-claimed-field",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the mark, and write the heading."""
    for part in sent.objects(lambda value: value.get("thought") is True):
        del part["thought"]
        part["text"] = f"THOUGHT: {part['text']}"
    return sent
