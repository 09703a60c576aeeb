from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import request_has_tool_choice
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"tools.choice-without-tools": {"status": 400, "message": "'tool_choice' needs 'tools'."}}


@rule(
    Level.MUST,
    on=requests,
    among=request_has_tool_choice,
    where=lambda request, _context: type(request.value["tool_choice"]) is str,
    when=lambda claimed: claimed.rejects_or_damages("tools.choice-without-tools"),
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/completion_create_params.py",
        quote="`none` is the default when no tools are present",
    ),
    bad=[example("plain", {"/0/request/tool_choice": "auto"}, _REFUSED)],
    good=[example("tool-call", {"/0/request/tool_choice": "auto"}, _REFUSED)],
    needs=("tools.choice-without-tools",),
    claim="tools.choice-without-tools",
    wires=EVERY,
    reach=BESIDE,
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """`tool_choice` is sent only with `tools` if the provider rejects it alone.

    Another rule reports the choice of an undeclared function. To fix it, omit `tool_choice`.
    """
    if request.value.get("tools"):
        return []
    values = {"value": request.value["tool_choice"], "field": "tool_choice"}
    return [Fault("expected tools beside tool_choice, got none", at=("tool_choice",), values=values)]
