from conformance.results import Level
from conformance.rules import EVERY, Claimed, Context, Fault, Source, example, rule
from conformance.rules.reasoning_claims import THINKS
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"request.last-assistant": {"status": 400, "message": "The last message must be a user message."}}
_THINKING = {"thinking.mode": "always", "request.prefill-while-thinking": _REFUSED["request.last-assistant"]}
_LAST = {"role": "assistant", "content": "Rarely"}
_PREFIX_KEYS = ("prefix", "partial")


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: _claim(context) is not None,
    when=lambda claimed: bool(claimed.claims),
    source=Source(
        "https://github.com/olimorris/codecompanion.nvim/issues/760",
        "The last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode on",
    ),
    bad=[
        example("plain", {"/0/request/messages/-": _LAST}, _REFUSED),
        example("plain", {"/0/request/messages/-": _LAST}, _THINKING),
    ],
    good=[
        example("plain", claims=_REFUSED),
        example("tool-result", claims=_REFUSED),
    ],
    reads=("request.prefill-while-thinking", "request.last-assistant", *THINKS),
    wires=EVERY,
)
def judge(request: Body, context: Context) -> list[Fault]:
    """The last message is not an assistant message if the provider rejects that.

    A message that is marked as a prefix (`prefix`, `partial`) is meant to be continued, and is allowed. To fix it,
    append the next user message, or mark the message as a prefix.
    """
    listed = request.value.get("messages")
    last = listed[-1] if type(listed) is list and listed else None
    if type(last) is not dict or last.get("role") != "assistant" or last.get("tool_calls"):
        return []
    if any(last.get(key) is True for key in _PREFIX_KEYS):
        return []
    values = {"role": "assistant", "model": request.exchange.model}
    message = "expected a last message of another role, got an assistant message"
    return [Fault(message, at=("messages", len(listed or ()) - 1), values=values, claim=_claim(context))]


def _claim(context: Context) -> str | None:
    """Return the claim about such an end; None if it is tolerated or unknown."""
    while_thinking, otherwise = context.derived(_claims)
    return while_thinking if while_thinking != otherwise and context.thinks is True else otherwise


def _claims(claimed: Claimed) -> tuple[str | None, str | None]:
    """Return the claim about such an end while the model thinks, the one about thinking first, and about any other."""
    last = "request.last-assistant"
    return claimed.first_rejecting("request.prefill-while-thinking", last), claimed.first_rejecting(last)
