"""Each delta of a streamed call repeats all its arguments so far, which clients join."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import arguments, calls, set_arguments

SOURCE = "https://github.com/NousResearch/hermes-agent/pull/35718"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("tool-calls/arguments-are-an-object",)


def change(sent: Outgoing) -> Outgoing:
    """Send what such deltas add up to."""
    for call in calls(sent):
        given = arguments(call)
        third = len(given) // 3
        set_arguments(call, given[:third] + given[: 2 * third] + given)
    return sent
