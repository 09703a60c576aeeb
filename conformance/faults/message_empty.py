"""A reply has neither content nor reasoning nor tool calls."""

from conformance.faults import PLAIN, Outgoing

SOURCE = "https://github.com/deepseek-ai/DeepSeek-V3/issues/1453"
WIRES = ("chat",)
VARIANTS = (PLAIN,)
BREAKS = ("response/message-not-empty", "ended: *the reply is empty*")


def change(sent: Outgoing) -> Outgoing:
    """Remove all of them."""
    for choice in sent.body["choices"]:
        choice |= {"message": {"role": "assistant", "content": ""}, "finish_reason": "stop"}
    return sent
