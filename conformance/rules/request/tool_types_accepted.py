from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import tool_definitions

_REFUSED = {"tools.wrong-type": {"status": 400, "message": "invalid params, invalid tool type: {kind} (2013)"}}


@rule(
    Level.MUST,
    on=tool_definitions,
    when=lambda claimed: claimed.rejects_or_damages("tools.wrong-type"),
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/chat_completion_function_tool_param.py",
        quote="The type of the tool. Currently, only `function` is supported",
    ),
    bad=[example("plain", {"/0/request/tools": [{"type": "web_search"}]}, _REFUSED)],
    good=[example("tool-call", claims=_REFUSED)],
    needs=("tools.wrong-type",),
    claim="tools.wrong-type",
)
def judge(tool: Body, _context: Context) -> list[Fault]:
    """Tools have the type function if the provider rejects others.

    To fix it, omit the tools that another host runs itself.
    """
    kind = tool.value.get("type") if type(tool.value) is dict else "function"
    if kind == "function" or type(kind) is not str:
        return []
    values = {"kind": kind, "position": tool.place[-1]}
    return [Fault(f"expected a tool of type function, got {kind[:40]!r}", at=("type",), values=values)]
