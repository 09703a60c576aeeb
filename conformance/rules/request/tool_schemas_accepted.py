"""Rule: parameters are written in the JSON Schema that the provider takes."""

from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.parts import Body
from conformance.wire.views import tool_definitions

_FUNCTION = "/0/request/tools/0/function"
_REFUSED = {"tools.schema-dialect": {"status": 400, "message": "Invalid schema for function '{name}': {reason}"}}


@rule(
    Level.MUST,
    on=tool_definitions,
    where=lambda _tool, context: context.bites("tools.schema-dialect"),
    source=Source("https://platform.openai.com/docs/guides/function-calling"),
    bad=[example("error", {f"{_FUNCTION}/strict": True}, _REFUSED)],
    good=[
        example("tool-call", claims=_REFUSED),
        example(
            "error", {f"{_FUNCTION}/strict": True, f"{_FUNCTION}/parameters/additionalProperties": False}, _REFUSED
        ),
    ],
    needs=("tools.schema-dialect",),
    refused="tools.schema-dialect",
)
def judge(tool: Body, _context: Context) -> list[Fault]:
    """The parameters of a strict function are closed, where the provider checks the schemas of functions.

    What else a provider does not take of JSON Schema differs too much to be foretold. To mend it, say
    `additionalProperties: false` in each object of the parameters, or leave `strict` out.
    """
    function = tool.value.get("function") if type(tool.value) is dict else None
    if type(function) is not dict or function.get("strict") is not True or _is_closed(function.get("parameters")):
        return []
    reason = "In context=(), 'additionalProperties' is required to be supplied and to be false."
    values = {"name": function.get("name"), "position": tool.place[-1], "reason": reason}
    message = "expected additionalProperties: false in the parameters of a strict function, got none"
    return [Fault(message, at=("function", "parameters"), values=values)]


def _is_closed(parameters: Any) -> bool:
    return type(parameters) is not dict or parameters.get("additionalProperties") is False
