from typing import Any

from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.values import as_object, objects
from conformance.wire.views import requests

_TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}},
}


def _has_several(request: Body, _context: Context) -> bool:
    tools = request.value.get("tools")
    return type(tools) is list and len(tools) > 1


@rule(
    Level.MUST,
    on=requests,
    where=_has_several,
    source=Source("https://github.com/dataelement/Clawith/issues/251", "Tool names must be unique."),
    bad=[example("tool-call", {"/0/request/tools/-": _TOOL})],
    good=[example("tool-call", {"/0/request/tools/-": {**_TOOL, "function": {"name": "get_time"}}})],
    wires=EVERY,
    reach=BESIDE,
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """A request declares each tool once.

    Anthropic, Google and gateways to them reject two tools of one name; where they are accepted, one hides the other,
    and nobody can tell which of them a call means. To fix it, remove the second definition, or give it another name.
    """
    seen: dict[str, int] = {}
    faults = []
    for position, tool in objects(request.value["tools"]):
        name = _name(tool)
        first = seen.setdefault(name, position) if name else position
        if first != position:
            message = f"expected a name that no other tool has, got {name!r:.60} as in tool {first}"
            faults.append(Fault(message, at=("tools", position)))
    return faults


def _name(tool: Any) -> str:
    """Return the name of a function; empty if the tool is not a function, or has none."""
    name = as_object(tool.get("function", tool.get("custom"))).get("name")
    return name if type(name) is str else ""
