"""A stream goes on with reasoning after its content has begun."""

import copy
from typing import Any

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import reasoning_field

SOURCE = "https://github.com/tinfoilsh/confidential-model-router/pull/359"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("reasoning/before-content",)


def change(sent: Outgoing) -> Outgoing:
    """Send a part of the reasoning again, after the first piece of content."""
    field = reasoning_field(sent)
    events = list(sent.events or ())
    places = [place for place, each in enumerate(events) if _said(each.value)]
    if field and places:
        late = copy.deepcopy(events[places[0]])
        late.value["choices"][0]["delta"] = {field: " But wait, there is more to it."}
        events.insert(places[0] + 1, late)
    return sent._replace(events=tuple(events))


def _said(value: Any) -> bool:
    choices = value.get("choices") if isinstance(value, dict) else None
    return bool(choices and choices[0].get("delta", {}).get("content"))
