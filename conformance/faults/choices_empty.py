"""A stream has a chunk without choices that has no usage either."""

from conformance.faults import STREAM, Outgoing
from conformance.wire.native import NativeEvent

SOURCE = "https://github.com/cline/cline/issues/8384"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("stream/empty-choices-only-with-usage",)


def change(sent: Outgoing) -> Outgoing:
    """Insert such a chunk behind the first one."""
    events = sent.events or ()
    at = next(number for number, each in enumerate(events) if isinstance(each.value, dict)) + 1
    chunk = {key: value for key, value in events[at - 1].value.items() if key != "usage"} | {"choices": []}
    return sent._replace(events=(*events[:at], NativeEvent("", chunk), *events[at:]))
