"""A text begins with thinking between tags."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/edison7009/EchoBird/issues/346"
WIRES = ("responses",)
VARIANTS = (PLAIN,)
BREAKS = ("reasoning/no-think-tags-in-content",)


def change(sent: Outgoing) -> Outgoing:
    """Put thinking before each text."""
    for part in sent.objects(lambda value: value.get("type") == "output_text"):
        part["text"] = f"<thinking>I have what the tool said.</thinking>\n{part['text']}"
    return sent
