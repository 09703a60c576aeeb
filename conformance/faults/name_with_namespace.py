"""The name of the function has the prefix of the model's own namespace."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls

SOURCE = "https://github.com/MoonshotAI/Kimi-K2/issues/89"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/name-declared",)


def change(sent: Outgoing) -> Outgoing:
    """Put the prefix before each name."""
    for call in calls(sent):
        call[0]["function"]["name"] = "functions." + call[0]["function"]["name"]
    return sent
