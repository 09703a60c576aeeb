"""Of parallel calls, only the first comes."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls, messages

SOURCE = "https://github.com/Avarok-Cybersecurity/atlas/issues/192"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("core/parallel-calls", "probes/results-paired")


def change(sent: Outgoing) -> Outgoing:
    """Remove the fragments of the others."""
    kept = calls(sent)[:1]
    for message in messages(sent):
        if message.get("tool_calls"):
            message["tool_calls"] = [each for each in message["tool_calls"] if any(each is own for own in kept[0])]
            if not message["tool_calls"]:
                del message["tool_calls"]
    return sent
