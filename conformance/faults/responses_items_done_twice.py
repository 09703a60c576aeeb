"""Items are done a second time before the response ends."""

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/BerriAI/litellm/pull/36375"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("native/stream-in-order",)

_DONE = "response.output_item.done"


def change(sent: Outgoing) -> Outgoing:
    """Repeat each response.output_item.done."""
    events = [each for event in sent.events or () for each in (event,) * (1 + (event.name == _DONE))]
    numbered = [each._replace(value={**each.value, "sequence_number": at}) for at, each in enumerate(events)]
    return sent._replace(events=tuple(numbered))
