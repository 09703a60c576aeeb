"""An item has another id when it is added, when it is done and at the end."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/EricLBuehler/mistral.rs/issues/1944"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/item-id-constant",)
RELATED = ("responses/deltas-add-up",)


def change(sent: Outgoing) -> Outgoing:
    """Give the items that are done, and those at the end, ids of their own."""
    done = sent.objects(lambda value: value.get("type") == "response.output_item.done")
    ended = sent.objects(lambda value: "output" in value and value.get("status") == "completed")
    for suffix, items in (
        ("d", [each["item"] for each in done]),
        ("c", [item for each in ended for item in each["output"]]),
    ):
        for item in items:
            item["id"] += suffix
    return sent
