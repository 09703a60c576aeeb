"""The ids of calls are a prefix and a UUID, longer than the 40 characters that OpenAI accepts."""

from uuid import NAMESPACE_URL, uuid5

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import calls

SOURCE = "https://github.com/Portkey-AI/gateway/issues/1062"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("tool-calls/id-in-claimed-format", "probes/twins-agree")


def change(sent: Outgoing) -> Outgoing:
    """Replace each id."""
    for call in calls(sent):
        if call[0].get("id"):
            call[0]["id"] = f"portkey-{uuid5(NAMESPACE_URL, call[0]['id'])}"
    return sent
