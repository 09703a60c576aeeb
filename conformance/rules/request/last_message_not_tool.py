from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"request.last-tool": {"status": 400, "message": "The last message must be a user message."}}


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages("request.last-tool"),
    source=Source(
        "https://github.com/olimorris/codecompanion.nvim/issues/760",
        "The last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode on",
    ),
    bad=[example("tool-result", claims=_REFUSED)],
    good=[example("plain", claims=_REFUSED)],
    needs=("request.last-tool",),
    claim="request.last-tool",
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """The last message is not a tool message if the provider rejects that.

    To fix it, append a user message that asks to continue, or use a model that continues from tool results.
    """
    listed = request.value.get("messages")
    last = listed[-1] if type(listed) is list and listed else None
    if type(last) is not dict or last.get("role") != "tool":
        return []
    values = {"role": "tool", "model": request.exchange.model}
    message = "expected a last message of another role, got a tool message"
    return [Fault(message, at=("messages", len(listed or ()) - 1), values=values)]
