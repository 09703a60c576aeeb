"""The arguments of calls are objects instead of their JSON text."""

import json

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/ggml-org/llama.cpp/issues/20198"
WIRES = ("chat", "responses")
VARIANTS = (PLAIN,)
BREAKS = {"chat": ("shape/choice",), "responses": ("native/reply-shape",)}


def change(sent: Outgoing) -> Outgoing:
    """Decode the arguments."""
    for holder in sent.objects(lambda value: isinstance(value.get("arguments"), str)):
        holder["arguments"] = json.loads(holder["arguments"])
    return sent
