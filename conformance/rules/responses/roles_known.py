from typing import Final

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wires.responses.views import SentItem, sent_items

_ROLES: Final = ("assistant", "system", "developer", "user")


@rule(
    Level.MUST,
    on=sent_items,
    where=lambda item, _context: item.kind == "message",
    source=Source("https://platform.openai.com/docs/api-reference/responses/create"),
    bad=[example("responses-request", {"/0/request/input/5/role": "critic"})],
    good=[example("responses-request")],
    claim="request.unknown-role",
    wires=("responses",),
)
def judge(item: SentItem, _context: Context) -> list[Fault]:
    """The role of a message is one that Responses has.

    There is no role for tools: a result is an item of its own. To fix it, send `function_call_output` with the
    `call_id` of its call.
    """
    role = item.value.get("role")
    if role in _ROLES:
        return []
    values = {"role": role, "index": item.number}
    return [Fault(f"expected one of {', '.join(_ROLES)}, got {role!r}", at=("role",), values=values)]
