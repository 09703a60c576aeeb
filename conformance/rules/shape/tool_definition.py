from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.schema_claims import OF_TOOL_DEFINITIONS
from conformance.wire.elements import Body
from conformance.wire.views import tool_definitions


@rule(
    Level.MUST,
    on=tool_definitions,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/shared_params/function_definition.py",
        quote="Must be a-z, A-Z, 0-9, or contain underscores and dashes",
    ),
    bad=[
        example("tool-call", {"/0/request/tools/0/function/name": 7}),
    ],
    reads=OF_TOOL_DEFINITIONS,
    by_schema=True,
)
def judge(tool: Body, context: Context) -> list[Fault]:
    """A tool definition is {type: "function", function{name, description, parameters}}.

    `parameters` is a JSON Schema object. To fix it, wrap the function as `schemas/canonical/tool-definition.json`
    shows.
    """
    return context.shape_faults(tool.place)
