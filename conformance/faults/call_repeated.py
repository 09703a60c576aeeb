"""A call comes twice in one reply, with two ids."""

import copy

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import arguments, calls, messages, set_arguments

SOURCE = "https://github.com/rbb-dev/Open-WebUI-OpenRouter-pipe/pull/54"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/call-not-repeated",)


def change(sent: Outgoing) -> Outgoing:
    """Append the first call again, with another id and the next index."""
    made = calls(sent)
    holders = [each for each in messages(sent) if each.get("tool_calls")]
    if made:
        again = copy.deepcopy(made[0][0])
        set_arguments([again], arguments(made[0]))
        again["id"] = again["id"][:-1] + ("7" if again["id"][-1] != "7" else "8")
        if sent.events is not None:
            again["index"] = len(made)
        holders[-1]["tool_calls"].append(again)
    return sent
