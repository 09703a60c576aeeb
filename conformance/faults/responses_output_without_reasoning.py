"""The response at the end of a stream lacks the reasoning that was streamed."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/Wei-Shaw/sub2api/pull/6118"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/deltas-add-up",)


def change(sent: Outgoing) -> Outgoing:
    """Remove the reasoning from the last event."""
    for response in sent.objects(lambda value: value.get("status") == "completed" and "output" in value):
        response["output"] = [each for each in response["output"] if each["type"] != "reasoning"]
    return sent
