from typing import Any

from conformance.documents.pointer import Place
from conformance.results import Level
from conformance.rules import BESIDE, Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, requests

_AT: Place = ("thinking", "budget_tokens")


@rule(
    Level.MUST,
    on=requests,
    where=lambda request, _context: (
        type(_budget(request.value)) is int and type(request.value.get("max_tokens")) is int
    ),
    source=Source(
        "https://platform.claude.com/docs/en/build-with-claude/thinking",
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
    ),
    bad=[example("messages-plain", {"/0/request/thinking/budget_tokens": 4096})],
    good=[example("messages-plain")],
    claim="messages.budget-not-below-max-tokens",
    wires=("messages",),
    reach=BESIDE,
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """The token budget for thinking is below the token limit of the reply.

    The limit counts the thinking too, so that nothing would be left for the answer. Thinking between tool calls, which
    a beta header turns on, lifts it. To fix it, raise `max_tokens` or lower the budget.
    """
    budget, limit = _budget(request.value), request.value["max_tokens"]
    return [] if budget < limit else [Fault(f"expected a budget below max_tokens ({limit}), got {budget}", at=_AT)]


def _budget(body: dict[str, Any]) -> Any:
    thinking = body.get("thinking")
    return thinking.get("budget_tokens") if type(thinking) is dict and thinking.get("type") == "enabled" else None
