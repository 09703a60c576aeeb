"""Blocks of a streamed message are never stopped."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/xemantic/anthropic-sdk-kotlin/pull/147"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)


def change(sent: Outgoing) -> Outgoing:
    """Remove every content_block_stop."""
    return sent._replace(events=tuple([each for each in sent.events or () if each.name != "content_block_stop"]))
