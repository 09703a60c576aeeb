"""The name of a call is empty when the call is done."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/router-for-me/CLIProxyAPI/issues/1004"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("native/reply-shape",)
RELATED = ("responses/deltas-add-up", "tool-calls/name-declared")


def change(sent: Outgoing) -> Outgoing:
    """Empty the name."""
    for event in sent.objects(lambda value: value.get("type") == "response.output_item.done"):
        if event["item"]["type"] == "function_call":
            event["item"]["name"] = ""
    return sent
