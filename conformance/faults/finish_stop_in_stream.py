"""Streamed replies with calls say that they end as a plain answer does; plain ones do not."""

from conformance.faults import STREAM, Outgoing
from conformance.faults._chat import calls, choices

SOURCE = "https://github.com/googleapis/python-genai/issues/2868"
WIRES = ("chat",)
VARIANTS = (STREAM,)
BREAKS = ("response/finish-reason-matches-tool-calls",)


def change(sent: Outgoing) -> Outgoing:
    """Replace the reason."""
    for choice in choices(sent) if calls(sent) else ():
        if choice.get("finish_reason") == "tool_calls":
            choice["finish_reason"] = "stop"
    return sent
