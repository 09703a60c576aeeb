"""A reply calls with `function_call`, which tool calls have replaced."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._chat import arguments, calls, choices, messages

SOURCE = "https://github.com/MeetKai/functionary/issues/243"
WIRES = ("chat",)
VARIANTS = BOTH
BREAKS = ("ended: *function_call*", "response/finish-reason-claimed", "response/finish-reason-matches-tool-calls")


def change(sent: Outgoing) -> Outgoing:
    """Write the first call in the old form."""
    made = calls(sent)
    if made:
        function = {"name": made[0][0]["function"]["name"], "arguments": arguments(made[0])}
        for message in messages(sent):
            if message.pop("tool_calls", None):
                message["function_call"], function = function, {"arguments": ""}
        for choice in choices(sent):
            if choice.get("finish_reason"):
                choice["finish_reason"] = "function_call"
    return sent
