from collections.abc import Iterator
from typing import Any

from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.tool_parameters import named, numbered, parameters_of, parts, types_of
from conformance.wire.elements import Body
from conformance.wire.views import tool_definitions

_NUMBERS = "tools.enum-of-numbers"
_OTHER = "tools.enum-of-another-type"
_REFUSED = {
    _NUMBERS: {"status": 400, "message": "Invalid value at 'parameters{path}' (TYPE_STRING), {value}"},
    _OTHER: {"status": 400, "message": "parameters{path}: only allowed for STRING type"},
}
_PARAMETERS = "/0/request/tools/0/functionDeclarations/0/parameters"


def _with(schema: object) -> dict[str, object]:
    return {"type": "object", "properties": {"days": schema}}


@rule(
    Level.MUST,
    on=tool_definitions,
    when=lambda claimed: claimed.rejects_or_damages(_NUMBERS) or claimed.rejects_or_damages(_OTHER),
    source=Source("https://github.com/microsoft/azure-devops-mcp/issues/139", "(TYPE_STRING), 2"),
    bad=[
        example("gemini-result", {_PARAMETERS: _with({"type": "integer", "enum": [1, 7]})}, _REFUSED),
        example("gemini-result", {_PARAMETERS: _with({"type": "INTEGER", "enum": ["1", "7"]})}, _REFUSED),
    ],
    good=[
        example("gemini-result", {_PARAMETERS: _with({"type": "STRING", "enum": ["1", "7"]})}, _REFUSED),
        example("gemini-result", {_PARAMETERS: _with({"type": ["string", "null"], "enum": ["1"]})}, _REFUSED),
    ],
    reads=(_NUMBERS, _OTHER),
    wires=EVERY,
    reach=BESIDE,
)
def judge(tool: Body, context: Context) -> list[Fault]:
    """Enumerations in the parameters of a function are texts of a string.

    Servers of tools enumerate numbers, which a host that takes a part of OpenAPI's schemas does not read. To fix it,
    write the values as text, give the schema the type string, and turn the argument into a number yourself.
    """
    schema = parameters_of(tool, context)
    return [
        Fault(message, at=("function", "parameters"), values={**values, "position": tool.place[-1]}, claim=claim)
        for path, part in parts(schema)
        if type(part.get("enum")) is list
        for claim, message, values in _faults(named(path, context.exchange.protocol), numbered(path, schema), part)
    ]


def _faults(path: str, numbered: str, part: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield what is wrong with one enumeration: its first value that is not text, else its type."""
    for number, value in enumerate(part["enum"]):
        if type(value) in (int, float):
            message = f"expected texts in the enum at {path}, got {value!r:.20}"
            yield _NUMBERS, message, {"path": f"{numbered}.enum[{number}]", "value": value}
            return
    if part.get("type") is not None and "string" not in types_of(part):
        message = f"expected the type string beside the enum at {path}, got {part['type']!r:.30}"
        yield _OTHER, message, {"path": f"{path}.enum"}
