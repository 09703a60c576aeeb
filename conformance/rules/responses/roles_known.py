from typing import Final

from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wires.responses.views import SentItem, sent_items

_ROLES: Final = ("assistant", "system", "developer", "user")
_SYSTEM: Final = "responses.system-role"
_ROLE = "/0/request/input/5/role"
_REFUSED = {_SYSTEM: {"status": 400, "message": "System messages are not allowed"}}


@rule(
    Level.MUST,
    on=sent_items,
    reach=ELEMENT,
    where=lambda item, _context: item.kind == "message",
    source=Source(
        package="pypi/openai@3.54.0:openai/types/responses/easy_input_message_param.py",
        quote="One of `user`, `assistant`, `system`, or `developer`",
    ),
    bad=[
        example("responses-request", {_ROLE: "critic"}),
        example("responses-request", {_ROLE: "system"}, _REFUSED),
    ],
    good=[example("responses-request")],
    claim="request.unknown-role",
    reads=(_SYSTEM,),
    wires=("responses",),
)
def judge(item: SentItem, context: Context) -> list[Fault]:
    """The role of a message is one that Responses has, and that the host takes.

    There is no role for tools: a result is an item of its own. To fix it, send `function_call_output` with the
    `call_id` of its call, and instructions as `instructions` or with role developer.
    """
    role = item.value.get("role")
    values = {"role": role, "index": item.number}
    if role == "system" and context.rejects_or_damages(_SYSTEM):
        text = "expected one of assistant, developer, user, got 'system'"
        return [Fault(text, at=("role",), values=values, claim=_SYSTEM)]
    if role in _ROLES:
        return []
    return [Fault(f"expected one of {', '.join(_ROLES)}, got {role!r}", at=("role",), values=values)]
