from typing import Any

from conformance import linear
from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

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


@rule(
    Level.MUST,
    on=requests,
    where=lambda request, _context: bool(request.value.get("tools")),
    when=lambda claimed: claimed.rejects_or_damages("request.tool-name-pattern"),
    source=Source(
        "https://github.com/mcp-use/mcp-use/issues/90",
        "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    ),
    bad=[example("tool-call", {"/0/request/tools/-": _TIME}, _CLAIM)],
    good=[example("tool-call", claims=_CLAIM)],
    needs=("request.tool-name-pattern",),
    claim="request.tool-name-pattern",
    wires=EVERY,
    reach=BESIDE,
)
def judge(request: Body, context: Context) -> list[Fault]:
    """Names of declared functions match the pattern that the provider requires.

    Names from tool servers contain dots, slashes and colons. To fix it, map them to letters, digits, underscores and
    dashes, and map the names of calls back.
    """
    pattern = context.claim("request.tool-name-pattern")["pattern"]
    tools = request.value["tools"]
    return [
        Fault(
            f"expected a name that matches {pattern}, got {name!r:.60}",
            at=("tools", position, "function", "name"),
            values={"name": name, "position": position, "length": len(name)},
        )
        for position, name in enumerate(map(_name, tools) if type(tools) is list else ())
        if name and not linear.fits(pattern, name)
    ]


def _name(tool: Any) -> str:
    function = tool.get("function") if type(tool) is dict else None
    name = function.get("name") if type(function) is dict else None
    return name if type(name) is str else ""
