from typing import Final

from conformance.results import Level
from conformance.rules import BESIDE, Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, requests
from conformance.wire.values import as_object

_CLAIM = "messages.budget-under-1024"
LEAST_BUDGET: Final = 1024
_TEXT = "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
_REFUSED = {_CLAIM: {"status": 400, "message": _TEXT}}


@rule(
    Level.MUST,
    on=requests,
    where=lambda request, _context: as_object(request.value.get("thinking")).get("type") == "enabled",
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source("https://github.com/themaximalist/llm.js/issues/30", _TEXT),
    bad=[example("messages-result", {"/0/request/thinking/budget_tokens": 512}, _REFUSED)],
    good=[example("messages-result", claims=_REFUSED)],
    needs=(_CLAIM,),
    claim=_CLAIM,
    wires=("messages",),
    reach=BESIDE,
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """The budget for thinking is at least 1024 tokens.

    Adapters that take half of `max_tokens` for it send less than the model accepts. To fix it, raise the budget, and
    `max_tokens` above it, or do not ask for thinking.
    """
    budget = request.value["thinking"].get("budget_tokens")
    if type(budget) is not int or budget >= LEAST_BUDGET:
        return []
    return [Fault(f"expected at least {LEAST_BUDGET} tokens, got {budget}", ("thinking", "budget_tokens"))]
