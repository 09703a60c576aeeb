"""An item is added while the one before it is not done yet."""

import itertools

from conformance.faults import STREAM, Outgoing

SOURCE = "https://github.com/openai/codex/pull/30876"
WIRES = ("responses",)
VARIANTS = (STREAM,)
BREAKS = ("responses/items-one-after-the-other",)

_ADDED = "response.output_item.added"
_DONE = "response.output_item.done"


def change(sent: Outgoing) -> Outgoing:
    """Exchange the end of each item with the start of the next one."""
    events = list(sent.events or ())
    for at, (first, second) in enumerate(itertools.pairwise(events)):
        if (first.name, second.name) == (_DONE, _ADDED):
            events[at : at + 2] = [second, first]
    numbered = [each._replace(value={**each.value, "sequence_number": at}) for at, each in enumerate(events)]
    return sent._replace(events=tuple(numbered))
