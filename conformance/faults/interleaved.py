"""The fragments of the calls of a reply alternate, which clients have to expect.

Each fragment has the index of its call.
"""

from typing import Any

from conformance.faults import STREAM, Outgoing

SOURCE = "https://platform.openai.com/docs/api-reference/chat/streaming"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Put the first fragment of each call first, then the second of each, and so on."""
    events = sent.events or ()
    positions = [position for position, each in enumerate(events) if _fragments(each.value)]
    count: dict[int, int] = {}
    ranks = []
    for position in positions:
        index = _fragments(events[position].value)[0]["index"]
        count[index] = count.get(index, 0) + 1
        ranks.append((count[index], index, position))
    mixed = list(events)
    for position, (_, _, source) in zip(positions, sorted(ranks), strict=True):
        mixed[position] = events[source]
    return sent._replace(events=tuple(mixed))


def _fragments(value: Any) -> list[Any]:
    choices = value.get("choices") if isinstance(value, dict) else None
    return choices[0]["delta"].get("tool_calls") or [] if choices else []
