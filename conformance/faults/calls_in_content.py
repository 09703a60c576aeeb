"""A call stands as markup in the content, and the reply says that it has finished as a plain answer does."""

import json

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/jundot/omlx/issues/3153"
WIRES = ("chat",)
VARIANTS = (PLAIN,)
BREAKS = ("response/no-markup-in-content", "ended: *markup*")


def change(sent: Outgoing) -> Outgoing:
    """Write the calls in the form of Hermes and Qwen."""
    for choice in sent.body["choices"]:
        message = choice["message"]
        blocks = [
            json.dumps({"name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])})
            for call in message.pop("tool_calls", None) or ()
        ]
        if blocks:
            message["content"] = "\n".join([f"<tool_call>\n{block}\n</tool_call>" for block in blocks])
            choice["finish_reason"] = "stop"
    return sent
