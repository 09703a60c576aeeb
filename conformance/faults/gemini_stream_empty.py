"""A stream with status 200 has no event."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/snailyp/gemini-balance/pull/347"
WIRES = ("gemini",)
VARIANTS = (STREAM,)
BREAKS = ("http/body-is-object-or-stream",)


def change(sent: Outgoing) -> Outgoing:
    """Remove all events."""
    return sent._replace(events=())
