"""The response at the end of a stream has neither output nor usage."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/decolua/9router/issues/705"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/deltas-add-up",)


def change(sent: Outgoing) -> Outgoing:
    """Remove both."""
    for response in sent.objects(lambda value: value.get("status") == "completed" and "output" in value):
        del response["output"], response["usage"]
    return sent
