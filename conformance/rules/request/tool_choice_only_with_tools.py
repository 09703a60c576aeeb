"""Rule: a choice needs something to choose from."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"tools.choice-without-tools": {"status": 400, "message": "'tool_choice' needs 'tools'."}}


@rule(
    Level.MUST,
    on=requests,
    where=lambda request, context: (
        type(request.value.get("tool_choice")) is str
        and context.claim("tools.choice-without-tools") not in ("accepted", "ignored")
    ),
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[example("plain", {"/0/request/tool_choice": "auto"}, _REFUSED)],
    good=[example("tool-call", {"/0/request/tool_choice": "auto"}, _REFUSED)],
    needs=("tools.choice-without-tools",),
    refused="tools.choice-without-tools",
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """`tool_choice` comes with `tools`, where the provider refuses it alone.

    That a function is named which is not declared is for another rule. To fix it, leave `tool_choice` out.
    """
    if request.value.get("tools"):
        return []
    values = {"value": request.value["tool_choice"], "field": "tool_choice"}
    return [Fault("expected tools beside tool_choice, got none", at=("tool_choice",), values=values)]
