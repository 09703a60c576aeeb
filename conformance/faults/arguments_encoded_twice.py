"""The arguments of calls are encoded twice: JSON text that holds JSON text."""

import json

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/vllm-project/vllm/pull/54964"
WIRES = ("chat", "responses")
VARIANTS = (PLAIN,)
BREAKS = ("tool-calls/arguments-are-an-object",)


def change(sent: Outgoing) -> Outgoing:
    """Encode the arguments once more."""
    for holder in sent.objects(lambda value: isinstance(value.get("arguments"), str)):
        holder["arguments"] = json.dumps(holder["arguments"])
    return sent
