from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.tool_parameters import parameters_of, parts
from conformance.wire.elements import Body
from conformance.wire.views import tool_definitions

_CLAIM = "tools.type-beside-any-of"
_TEXT = "when using anyOf, type should be defined in anyOf items instead of the parent schema"
_REFUSED = {_CLAIM: {"status": 400, "message": f"At path '{{path}}': {_TEXT}"}}
_PARAMETERS = "/0/request/tools/0/function/parameters"


def _with(schema: object) -> dict[str, object]:
    return {"type": "object", "properties": {"day": schema}}


@rule(
    Level.MUST,
    on=tool_definitions,
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source(
        "https://github.com/MoonshotAI/kimi-code/issues/2661", "is not a valid moonshot flavored json schema"
    ),
    bad=[
        example(
            "error", {_PARAMETERS: _with({"type": "string", "anyOf": [{"minLength": 1}, {"const": ""}]})}, _REFUSED
        ),
        example("error", {_PARAMETERS: {"type": "object", "anyOf": [{"required": ["a"]}]}}, _REFUSED),
    ],
    good=[
        example("error", {_PARAMETERS: _with({"anyOf": [{"type": "string"}, {"type": "null"}]})}, _REFUSED),
        example("error", {_PARAMETERS: _with({"type": "string"})}, _REFUSED),
    ],
    needs=(_CLAIM,),
    claim=_CLAIM,
    wires=EVERY,
    reach=BESIDE,
)
def judge(tool: Body, context: Context) -> list[Fault]:
    """A schema in the parameters of a function does not have a type beside `anyOf`.

    Both together are valid JSON Schema, and servers of tools write them. To fix it, write the type into each of the
    branches.
    """
    schema = parameters_of(tool, context)
    return [
        Fault(
            f"expected no type beside anyOf at {shown}, got {part['type']!r:.30}",
            at=("function", "parameters"),
            values={"name": tool.value["function"].get("name"), "position": tool.place[-1], "path": shown},
        )
        for path, part in parts(schema)
        if part.get("type") is not None and type(part.get("anyOf")) is list
        for shown in [".".join(path) or "root"]
    ]
