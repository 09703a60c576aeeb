"""The calls at the end of a stream have other ids than before."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/vllm-project/vllm/pull/47916"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/deltas-add-up",)


def change(sent: Outgoing) -> Outgoing:
    """Change both ids of each call in the last event."""
    for response in sent.objects(lambda value: value.get("status") == "completed" and "output" in value):
        for call in [each for each in response["output"] if each["type"] == "function_call"]:
            call["id"], call["call_id"] = call["id"] + "c", call["call_id"] + "c"
    return sent
