"""A request for a plain reply gets one as an event stream, with `[DONE]` behind it."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/decolua/9router/issues/3492"
WIRES = ("chat",)
VARIANTS = (PLAIN,)
BREAKS = ("http/streams-when-asked", "http/*", "ended")


def change(sent: Outgoing) -> Outgoing:
    """Append the end of a stream."""
    sent = sent._replace(content=sent.raw() + b"\n\ndata: [DONE]\n\n")
    return sent.with_headers(content_type="text/event-stream")
