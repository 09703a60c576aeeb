"""The first delta of a text is lost; the text that is done has it."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/BerriAI/litellm/issues/36327"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/deltas-add-up",)


def change(sent: Outgoing) -> Outgoing:
    """Empty the first delta of each text."""
    seen = set()
    for event in sent.objects(lambda value: value.get("type") == "response.output_text.delta"):
        if event["item_id"] not in seen:
            event["delta"] = ""
        seen.add(event["item_id"])
    return sent
