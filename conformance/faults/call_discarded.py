"""A call is discarded with everything else that the model wrote: no text, no call, finish reason stop."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import REASONING, calls, choices, messages

SOURCE = "https://github.com/ollama/ollama/issues/17274"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("ended: *the reply is empty*",)


def change(sent: Outgoing) -> Outgoing:
    """Remove calls and texts of a reply with calls."""
    if calls(sent):
        for message in messages(sent):
            for name in ("tool_calls", *REASONING):
                message.pop(name, None)
            if "content" in message:
                message["content"] = ""
        for choice in choices(sent):
            if choice.get("finish_reason"):
                choice["finish_reason"] = "stop"
    return sent
