"""Rule: names of functions have the form that the provider takes."""

import re

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.index import Body
from conformance.wire.views import tool_definitions

_CLAIM = {
    "request.tool-name-pattern": {
        "pattern": "[a-zA-Z0-9_-]{1,64}",
        "refusal": {
            "status": 400,
            "message": "Invalid 'tools[{position}].function.name': string does not match pattern.",
        },
    },
}
_TIME = {"type": "function", "function": {"name": "clock.get_time"}}


def _name(tool: Body) -> str | None:
    function = tool.value.get("function") if type(tool.value) is dict else None
    name = function.get("name") if type(function) is dict else None
    return name if type(name) is str else None


@rule(
    Level.MUST,
    on=tool_definitions,
    where=lambda tool, context: (
        _name(tool) is not None and context.claim("request.tool-name-pattern")["refusal"] not in ("accepted", "ignored")
    ),
    source=Source(
        "https://github.com/mcp-use/mcp-use/issues/90",
        "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    ),
    bad=[example("tool-call", {"/0/request/tools/-": _TIME}, _CLAIM)],
    good=[example("tool-call", claims=_CLAIM)],
    needs=("request.tool-name-pattern",),
    refused="request.tool-name-pattern",
)
def judge(tool: Body, context: Context) -> list[Fault]:
    """The name of a declared function has the form that the provider takes.

    Names that come from servers of tools hold dots, slashes and colons. To mend it, map them to letters, digits,
    underscores and dashes, and back when a call comes.
    """
    pattern = context.claim("request.tool-name-pattern")["pattern"]
    name = _name(tool) or ""
    if re.fullmatch(pattern, name):
        return []
    values = {"name": name, "position": tool.place[3], "length": len(name)}
    return [Fault(f"expected a name that matches {pattern}, got {name!r:.60}", at=("function", "name"), values=values)]
