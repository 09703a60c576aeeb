from collections.abc import Mapping
from typing import Any, Final

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, requests
from conformance.wires.gemini.names import camel_case, listed, of_either

_CLAIM = "gemini.functions-beside-tools"
_TEXT = "Tool use with function calling is unsupported"
_REFUSED = {_CLAIM: {"status": 400, "message": _TEXT}}
_FUNCTIONS = {"functionDeclarations": [{"name": "get_time", "description": "Returns the time."}]}
_TOOLS = "/0/request/tools"
_HOSTED: Final = frozenset({"googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext", "googleMaps"})


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source("https://github.com/symfony/ai/issues/803", _TEXT),
    bad=[
        example("gemini-result", {f"{_TOOLS}/-": {"googleSearch": {}}}, _REFUSED),
        example("gemini-result", {f"{_TOOLS}/-": {"code_execution": {}}}, _REFUSED),
        example("gemini-result", {f"{_TOOLS}/0/googleSearch": {}}, _REFUSED),
    ],
    good=[
        example("gemini-result", claims=_REFUSED),
    ],
    needs=(_CLAIM,),
    claim=_CLAIM,
    wires=("gemini",),
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """Functions do not stand beside tools that the server runs, if the model takes only one of both.

    Gemini 2.5 takes functions or its own search, not both. To fix it, ask with the hosted tool in a request of its own,
    or choose a model of Gemini 3.
    """
    tools = [(at, tool) for at, tool in listed(request.value.get("tools"))]
    if not any(of_either(tool, "functionDeclarations") for _, tool in tools):
        return []
    return [
        Fault(f"expected functions alone, got {key} beside them", ("tools", *at, key), values={"kind": key})
        for at, tool in tools
        for key in _hosted(tool)
    ]


def _hosted(tool: Mapping[str, Any]) -> list[str]:
    return [key for key, value in tool.items() if camel_case(key) in _HOSTED and value is not None]
