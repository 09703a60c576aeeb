"""The token limit ends a reply in the middle of a call, whose arguments are not JSON."""

from conformance.faults import BOTH, Outgoing
from conformance.faults._answers import call_arguments
from conformance.faults._chat import arguments, calls, set_arguments

SOURCE = "https://github.com/XpressAI/xaibo/pull/33"
WIRES = ("chat", "messages")
VARIANTS = BOTH
BREAKS = ("response/calls-not-truncated", "response/finish-reason-matches-tool-calls")
RELATED = ("tool-calls/arguments-are-an-object",)

_REASONS = {"chat": ("finish_reason", "length"), "messages": ("stop_reason", "max_tokens")}


def change(sent: Outgoing) -> Outgoing:
    """Cut the last call, and name the limit as the reason."""
    if not sent.calls() or (sent.wire == "messages" and sent.events is None):
        return sent
    if sent.wire == "chat":
        last = calls(sent)[-1]
        set_arguments(last, arguments(last)[: len(arguments(last)) // 2])
    else:
        pieces = call_arguments(sent)[-1]
        pieces.write(pieces.whole[: len(pieces.whole) // 2])
    key, reason = _REASONS[sent.wire]
    for each in sent.objects(lambda value: bool(value.get(key))):
        each[key] = reason
    return sent
