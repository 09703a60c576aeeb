from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.tool_parameters import named, numbered, parameters_as_sent, parts
from conformance.wire.elements import Body
from conformance.wire.views import tool_definitions

_CLAIM = "tools.type-list"
_REFUSED = {_CLAIM: {"status": 400, "message": "Unknown name \"type\" at 'parameters{path}': cannot start list."}}
_PARAMETERS = "/0/request/tools/0/functionDeclarations/0/parameters"


def _with(schema: object) -> dict[str, object]:
    return {"type": "object", "properties": {"day": schema}}


@rule(
    Level.MUST,
    on=tool_definitions,
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source(
        "https://github.com/taylorwilsdon/google_workspace_mcp/issues/1099",
        "Proto field is not repeating, cannot start list",
    ),
    bad=[example("gemini-result", {_PARAMETERS: _with({"type": ["string", "null"]})}, _REFUSED)],
    good=[example("gemini-result", {_PARAMETERS: _with({"type": "string", "nullable": True})}, _REFUSED)],
    needs=(_CLAIM,),
    claim=_CLAIM,
    wires=EVERY,
    reach=BESIDE,
)
def judge(tool: Body, context: Context) -> list[Fault]:
    """The type of a schema in the parameters of a function is one word.

    Libraries write `["string", "null"]` for what may be absent, and hosts that take a part of OpenAPI's schemas do
    not read. To fix it, write one type, and `nullable` beside it.
    """
    schema = parameters_as_sent(tool, context)
    wire = context.exchange.protocol
    return [
        Fault(
            f"expected one type at {named(path, wire) or 'the root'}, got {part['type']!r:.40}",
            at=("function", "parameters"),
            values={"position": tool.place[-1], "path": numbered(path, schema)},
        )
        for path, part in parts(schema)
        if type(part.get("type")) is list
    ]
