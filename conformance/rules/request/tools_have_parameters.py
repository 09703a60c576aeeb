from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import tool_definitions

_PARAMETERS = "/0/request/tools/0/function/parameters"
_REFUSED = {"tools.without-parameters": {"status": 400, "message": "function parameters is empty"}}


@rule(
    Level.MUST,
    on=tool_definitions,
    when=lambda claimed: claimed.rejects_or_damages("tools.without-parameters"),
    source=Source(
        "https://github.com/QwenLM/qwen-code/issues/11834", "invalid params, function parameters is empty (2013)"
    ),
    bad=[
        example("error", {_PARAMETERS: REMOVE}, _REFUSED),
        example("error", {_PARAMETERS: {}}, _REFUSED),
    ],
    good=[example("tool-call", claims=_REFUSED)],
    needs=("tools.without-parameters",),
    claim="tools.without-parameters",
)
def judge(tool: Body, _context: Context) -> list[Fault]:
    """Declared functions have parameters if the provider requires them.

    To fix it, send `{"type": "object", "properties": {}}` for a function without arguments.
    """
    function = tool.value.get("function") if type(tool.value) is dict else None
    if type(function) is not dict or function.get("parameters"):
        return []
    got = repr(function["parameters"]) if "parameters" in function else "none"
    values = {"name": function.get("name"), "position": tool.place[-1]}
    return [Fault(f"expected parameters that are not empty, got {got}", at=("function",), values=values)]
