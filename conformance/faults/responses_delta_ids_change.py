"""Each delta of reasoning belongs to an item with another id."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/BerriAI/litellm/pull/36375"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/item-id-constant",)


def change(sent: Outgoing) -> Outgoing:
    """Append its number to the id of each."""
    deltas = sent.objects(lambda value: "delta" in value and str(value.get("type")).startswith("response.reasoning"))
    for number, event in enumerate(deltas):
        event["item_id"] += str(number)
    return sent
