from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.tool_parameters import named, parameters_of, parts
from conformance.wire.elements import Body
from conformance.wire.views import tool_definitions

_CLAIM = "tools.required-undeclared"
_REFUSED = {_CLAIM: {"status": 400, "message": "parameters{path}: property is not defined"}}
_PARAMETERS = "/0/request/tools/0/function/parameters"
_DECLARED = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_UNDECLARED = {**_DECLARED, "required": ["city", "day"]}


@rule(
    Level.MUST,
    on=tool_definitions,
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source("https://github.com/probelabs/probe/issues/569", "property is not defined"),
    bad=[
        example("error", {_PARAMETERS: _UNDECLARED}, _REFUSED),
        example("error", {_PARAMETERS: {"type": "object", "properties": {"at": _UNDECLARED}}}, _REFUSED),
        example("gemini-result", {"/0/request/tools/0/functionDeclarations/0/parameters": _UNDECLARED}, _REFUSED),
    ],
    good=[example("error", {_PARAMETERS: _DECLARED}, _REFUSED)],
    needs=(_CLAIM,),
    claim=_CLAIM,
    wires=EVERY,
    reach=BESIDE,
)
def judge(tool: Body, context: Context) -> list[Fault]:
    """Each required property of a function's parameters is declared.

    JSON Schema allows to require a name that no property has; strict hosts reject the whole request for one. To fix it,
    declare the property, or do not require it.
    """
    schema = parameters_of(tool, context)
    faults = []
    for path, part in parts(schema):
        properties, required = part.get("properties"), part.get("required")
        if type(required) is not list:
            continue
        for at, name in enumerate(required):
            if type(name) is str and name not in (properties if type(properties) is dict else ()):
                shown = named((*path, "required"), context.exchange.protocol)
                values = {"name": name, "position": tool.place[-1], "path": f"{shown}[{at}]"}
                message = f"expected a property for each required name, got none for {name[:40]!r}"
                faults.append(Fault(message, at=("function", "parameters"), values=values))
    return faults
