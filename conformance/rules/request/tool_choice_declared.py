from typing import Any

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import request_has_tool_choice
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CHOICE = "/0/request/tool_choice"
_KNOWN = {"type": "function", "function": {"name": "get_weather"}}
_UNKNOWN = {"type": "function", "function": {"name": "get_time"}}


def _chosen(request: Body) -> Any:
    choice = request.value.get("tool_choice")
    function = choice.get("function") if type(choice) is dict else None
    return function.get("name") if type(function) is dict else None


@rule(
    Level.MUST,
    on=requests,
    among=request_has_tool_choice,
    where=lambda request, _context: _chosen(request) is not None,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create", "forces the model to call that tool"),
    bad=[
        example("error", {_CHOICE: _UNKNOWN}),
        example("error", {_CHOICE: _KNOWN, "/0/request/tools": REMOVE}),
        example("error", {_CHOICE: _UNKNOWN}, {"tools.choice-unknown-name": {"status": 400}}),
    ],
    good=[example("tool-call", {_CHOICE: _KNOWN})],
    reads=("tools.choice-unknown-name", "tools.choice-without-tools"),
    wires=EVERY,
    reach=BESIDE,
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """`tool_choice` names a function that the request declares.

    Some providers reject another name, others ignore the choice. To fix it, declare the function in `tools`, or choose
    a declared one.
    """
    tools = request.value.get("tools")
    name = _chosen(request)
    for tool in tools if type(tools) is list else ():
        function = tool.get("function") if type(tool) is dict else None
        if type(function) is dict and function.get("name") == name:
            return []
    claim = "tools.choice-unknown-name" if tools else "tools.choice-without-tools"
    message = f"expected the name of a declared function, got {name!r:.60}"
    values = {"name": name, "value": name}
    return [Fault(message, at=("tool_choice", "function", "name"), values=values, claim=claim)]
