from conformance.results import Level
from conformance.rules import BESIDE, Context, Fault, Source, example, rule
from conformance.wire.definitions import open_object
from conformance.wire.elements import Body
from conformance.wire.native import CHAT
from conformance.wire.views import tool_definitions

_FUNCTION = "/0/request/tools/0/function"
_REFUSED = {"tools.schema-dialect": {"status": 400, "message": "Invalid schema for function '{name}': {reason}"}}


@rule(
    Level.MUST,
    on=tool_definitions,
    when=lambda claimed: claimed.rejects_or_damages("tools.schema-dialect"),
    source=Source(
        package="pypi/openai@3.54.0:openai/types/shared_params/function_definition.py",
        quote="The parameters the functions accepts, described as a JSON Schema object",
    ),
    bad=[
        example("error", {f"{_FUNCTION}/strict": True}, _REFUSED),
        example("error", {f"{_FUNCTION}/parameters": {"type": "object"}}, _REFUSED),
    ],
    good=[
        example("tool-call", claims=_REFUSED),
        example(
            "error", {f"{_FUNCTION}/strict": True, f"{_FUNCTION}/parameters/additionalProperties": False}, _REFUSED
        ),
    ],
    needs=("tools.schema-dialect",),
    claim="tools.schema-dialect",
    wires=(CHAT, "responses"),
    reach=BESIDE,
)
def judge(tool: Body, _context: Context) -> list[Fault]:
    """Function parameters declare properties, and strict functions close each object.

    The rule applies if the provider checks the schemas of functions. Other limits on JSON Schema differ too much
    between providers to be predicted. To fix it, set `properties`, even to an empty object, and set
    `additionalProperties: false` in each object of a strict function's parameters.
    """
    function = tool.value.get("function") if type(tool.value) is dict else None
    parameters = function.get("parameters") if type(function) is dict else None
    if type(function) is not dict or type(parameters) is not dict:
        return []
    if parameters.get("type") == "object" and "properties" not in parameters:
        return [_fault(tool, "properties in the parameters", "In context=(), object schema missing properties.")]
    path = open_object(parameters) if function.get("strict") is True else None
    if path is None:
        return []
    reason = f"In context={path!r}, 'additionalProperties' is required to be supplied and to be false."
    return [_fault(tool, "additionalProperties: false in each object of a strict function's parameters", reason)]


def _fault(tool: Body, expected: str, reason: str) -> Fault:
    values = {"name": tool.value["function"].get("name"), "position": tool.place[-1], "reason": reason}
    return Fault(f"expected {expected}, got none", at=("function", "parameters"), values=values)
