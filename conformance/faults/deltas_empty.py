"""A stream has deltas without any content between the others."""

import copy

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import is_event

SOURCE = "https://github.com/skye-harris/hass_local_openai_llm/pull/92"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ()
HARMLESS = True


def change(sent: Outgoing) -> Outgoing:
    """Put an empty delta before each event with content."""
    made = []
    for each in sent.events or ():
        if is_event(each, "content"):
            blank = copy.deepcopy(each)
            blank.value["choices"][0]["delta"] = {"content": ""}
            made.append(blank)
        made.append(each)
    return sent._replace(events=tuple(made))
