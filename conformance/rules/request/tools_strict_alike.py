from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.values import as_object, objects
from conformance.wire.views import requests

_CLAIM = "tools.mixed-strict"
_TEXT = "Tools with mixed values for 'strict' are not allowed."
_REFUSED = {_CLAIM: {"status": 400, "message": _TEXT}}
_STRICT = {
    "type": "function",
    "function": {"name": "get_time", "strict": True, "parameters": {"type": "object", "properties": {}}},
}


@rule(
    Level.MUST,
    on=requests,
    where=lambda request, _context: bool(request.value.get("tools")),
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source("https://github.com/RooCodeInc/Roo-Code/issues/10334", _TEXT),
    bad=[example("tool-call", {"/0/request/tools/-": _STRICT}, _REFUSED)],
    good=[example("tool-call", claims=_REFUSED)],
    needs=(_CLAIM,),
    claim=_CLAIM,
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """All functions of a request are strict, or none is, if the provider takes no mixture.

    Libraries leave `strict` out where a schema does not allow it, which counts as false. To fix it, send the same value
    with each function.
    """
    listed = [(position, _is_strict(tool)) for position, tool in objects(request.value["tools"])]
    other = next((each for each in listed if each[1] is not listed[0][1]), None)
    if other is None:
        return []
    words = "strict" if listed[0][1] else "not strict"
    message = f"expected a function that is {words} as tool {listed[0][0]} is, got another"
    return [Fault(message, ("tools", other[0]), values={"position": other[0]})]


def _is_strict(tool: Any) -> bool:
    return as_object(tool.get("function")).get("strict") is True
