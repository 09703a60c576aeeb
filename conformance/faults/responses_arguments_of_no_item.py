"""The events that end the arguments of calls do not say of which call."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/can1357/oh-my-pi/pull/1971"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)


def change(sent: Outgoing) -> Outgoing:
    """Remove item_id and output_index."""
    for event in sent.objects(lambda value: value.get("type") == "response.function_call_arguments.done"):
        del event["item_id"], event["output_index"]
    return sent
