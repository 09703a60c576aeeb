"""A streamed message ends behind its last block, without a stop reason."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/maximhq/bifrost/issues/6081"
WIRES = ("messages",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-complete",)

_END = ("message_delta", "message_stop")


def change(sent: Outgoing) -> Outgoing:
    """Remove message_delta and message_stop."""
    return sent._replace(events=tuple([each for each in sent.events or () if each.name not in _END]))
