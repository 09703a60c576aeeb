"""The first call of a stream has the output_index of the item before it."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/Shelpuk-AI-Technology-Consulting/kitty-bridge/pull/116"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/indexes-contiguous",)


def change(sent: Outgoing) -> Outgoing:
    """Lower the output_index of every call that is not the first item."""
    calls = {each["id"] for each in sent.calls()}
    for event in sent.objects(lambda value: value.get("output_index", 0) > 0):
        if event.get("item_id", event.get("item", {}).get("id")) in calls:
            event["output_index"] -= 1
    return sent
