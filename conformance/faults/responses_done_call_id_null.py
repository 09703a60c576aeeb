"""A call that is done has null as its id."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/vllm-project/vllm/pull/44608"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/item-id-constant",)
RELATED = ("responses/items-complete",)


def change(sent: Outgoing) -> Outgoing:
    """Write null."""
    for event in sent.objects(lambda value: value.get("type") == "response.output_item.done"):
        if event["item"]["type"] == "function_call":
            event["item"]["id"] = None
    return sent
