from collections.abc import Iterator, Mapping
from typing import Any

from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.tool_parameters import MOST, parameters_of
from conformance.wire.elements import Body
from conformance.wire.views import tool_definitions

_PARAMETERS = "/0/request/tools/0/function/parameters"
_REFUSED = {"status": 400, "message": "tools.{position}: no {value} at the top level"}
_AT_ROOT = {"tools.schema-keywords": [{"keywords": ["anyOf", "oneOf"], "at": "root", "verdict": _REFUSED}]}
_ANYWHERE = {"tools.schema-keywords": [{"keywords": ["$defs"], "at": "anywhere", "verdict": "damaged"}]}
_EITHER = [{"required": ["city"]}, {"required": ["place"]}]
_DEFINED = {"type": "object", "properties": {}, "$defs": {"place": {"type": "string"}}}
_DECLARED = "/0/request/tools/0/functionDeclarations"
_OBJECT = {"type": "object", "properties": {}}


@rule(
    Level.MUST,
    on=tool_definitions,
    source=Source(
        "https://github.com/anthropics/claude-code/issues/1476",
        "input_schema does not support oneOf, allOf, or anyOf at the top level",
    ),
    bad=[
        example("tool-call", {f"{_PARAMETERS}/anyOf": _EITHER}, _AT_ROOT),
        example("messages-plain", {"/0/request/tools/0/input_schema/oneOf": _EITHER}, _AT_ROOT),
        example("error", {_PARAMETERS: _DEFINED}, _ANYWHERE),
        example("gemini-result", {_DECLARED: [{"name": "get_weather", "parameters": _DEFINED}]}, _ANYWHERE),
    ],
    good=[
        example("error", {_PARAMETERS: {**_OBJECT, "properties": {"city": {"anyOf": [{"type": "string"}]}}}}, _AT_ROOT),
        example("error", {_PARAMETERS: {**_OBJECT, "properties": {"$defs": {"type": "string"}}}}, _ANYWHERE),
        example("gemini-result", {_DECLARED: [{"name": "get_weather", "parametersJsonSchema": _DEFINED}]}, _ANYWHERE),
        example("gemini-result", {_DECLARED: [{"name": "get_weather", "parameters_json_schema": _DEFINED}]}, _ANYWHERE),
    ],
    needs=("tools.schema-keywords",),
    wires=EVERY,
    reach=BESIDE,
)
def judge(tool: Body, context: Context) -> list[Fault]:
    """Function parameters have no JSON Schema keyword that the provider rejects or its model misreads.

    Schemas that are generated from types often have `$ref`, `$defs` or `anyOf`. To fix it, replace each reference with
    what it refers to, and merge the branches of a composition at the root into one object.
    """
    parameters = parameters_of(tool, context)
    if parameters is None:
        return []
    faults = []
    for limit in context.claim("tools.schema-keywords"):
        found = parameters if limit["at"] == "root" else dict.fromkeys(_keywords(parameters))
        used = next((each for each in limit["keywords"] if each in found), None)
        if used is not None and limit["verdict"] != "accepted":
            where = " at the root" if limit["at"] == "root" else ""
            values = {
                "name": tool.value["function"].get("name"),
                "position": tool.place[-1],
                "value": used,
                "kind": used,
            }
            message = f"expected parameters without {used}{where}, got one"
            faults.append(Fault(message, ("function", "parameters"), values=values, verdict=limit["verdict"]))
    return faults


def _keywords(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keywords of a schema and of those within it; names of properties and values are none."""
    waiting: list[Any] = [schema]
    for _ in range(MOST):
        if not waiting:
            return
        part = waiting.pop()
        if type(part) is list:
            waiting += part
        elif type(part) is dict:
            yield from part
            for keyword, value in part.items():
                if keyword in ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"):
                    waiting += value.values() if type(value) is dict else ()
                elif keyword not in ("enum", "const", "default", "examples", "required"):
                    waiting.append(value)
