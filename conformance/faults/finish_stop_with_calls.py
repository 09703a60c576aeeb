"""A reply with tool calls says that it has finished as a plain answer does.

The reason is `stop` instead of `tool_calls`, and `end_turn` instead of `tool_use`. Clients that look only at it never
run the calls.
"""

from conformance.faults import BOTH, Outgoing

SOURCE = "https://github.com/vercel/workflow/issues/1387"
WIRES = ("chat", "messages")
VARIANTS = BOTH
BREAKS = ("response/finish-reason-matches-tool-calls",)

_REASONS = {"chat": ("finish_reason", "tool_calls", "stop"), "messages": ("stop_reason", "tool_use", "end_turn")}


def change(sent: Outgoing) -> Outgoing:
    """Replace the reason."""
    key, reason, other = _REASONS[sent.wire]
    for holder in sent.objects(lambda value: value.get(key) == reason):
        holder[key] = other
    return sent
