from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.tool_parameters import is_array, named, parameters_of, parts
from conformance.wire.elements import Body
from conformance.wire.views import tool_definitions

_CLAIM = "tools.array-without-items"
_REFUSED = {_CLAIM: {"status": 400, "message": "Invalid schema for function '{name}': In context={path}"}}
_PARAMETERS = "/0/request/tools/0/function/parameters"
_INNER = {"type": "array", "items": {"type": ["array", "null"]}}


def _with(schema: object) -> dict[str, object]:
    return {"type": "object", "properties": {"cities": schema}}


@rule(
    Level.MUST,
    on=tool_definitions,
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source("https://github.com/modelscope/ms-agent/pull/610", "array schema missing items"),
    bad=[
        example("error", {_PARAMETERS: _with({"type": "array"})}, _REFUSED),
        example("error", {_PARAMETERS: _with(_INNER)}, _REFUSED),
        example("messages-plain", {"/0/request/tools/0/input_schema": _with({"type": "array"})}, _REFUSED),
        example(
            "gemini-result",
            {"/0/request/tools/0/functionDeclarations/0/parameters": _with({"type": "ARRAY"})},
            _REFUSED,
        ),
    ],
    good=[
        example("error", {_PARAMETERS: _with({"type": "array", "items": {"type": "string"}})}, _REFUSED),
        example(
            "error", {_PARAMETERS: _with({"type": "object", "properties": {"type": {"type": "string"}}})}, _REFUSED
        ),
    ],
    needs=(_CLAIM,),
    claim=_CLAIM,
    wires=EVERY,
    reach=BESIDE,
)
def judge(tool: Body, context: Context) -> list[Fault]:
    """Each array in the parameters of a function says what its items are.

    JSON Schema allows an array of anything, and some servers of tools declare such; strict hosts reject the whole
    request for one of them. To fix it, add `items`, even without a type.
    """
    schema = parameters_of(tool, context)
    faults = []
    for path, part in parts(schema):
        if is_array(part) and "items" not in part:
            shown = named(path, context.exchange.protocol)
            values = {"name": tool.value["function"].get("name"), "position": tool.place[-1], "path": shown}
            message = f"expected items of the array at {shown}, got none"
            faults.append(Fault(message, at=("function", "parameters"), values=values))
    return faults
