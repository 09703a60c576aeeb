from conformance.results import Level
from conformance.rules import TURN, Context, Fault, Source, example, rule, unless_faulty
from conformance.wires.responses.pairing import needs_output, pairing_id
from conformance.wires.responses.views import SentItem, is_answered, sent_items

_CALL = {"type": "tool_search_call", "call_id": "call_s", "execution": "client", "arguments": {}, "status": "completed"}
_OUTPUT = {"type": "tool_search_output", "call_id": "call_s", "execution": "client", "tools": [], "status": "completed"}
_SHELL = {"type": "local_shell_call", "id": "lsh_01", "call_id": "call_x", "action": {"type": "exec", "command": []}}
_AT = "/0/request/input"


@rule(
    Level.MUST,
    on=sent_items,
    reach=TURN,
    settled=unless_faulty,
    where=lambda item, _context: needs_output(item.kind, item.value),
    source=Source("https://github.com/Wei-Shaw/sub2api/issues/1885", "No tool output found for tool search call"),
    bad=[
        example("responses-request", {f"{_AT}/-": _CALL}),
        example("responses-request", {f"{_AT}/-": {**_SHELL, "status": "completed"}}),
    ],
    good=[
        example("responses-request", {f"{_AT}/5": _CALL, f"{_AT}/-": _OUTPUT}),
    ],
    claim="responses.call-without-output",
    wires=("responses",),
)
def judge(item: SentItem, context: Context) -> list[Fault]:
    """A call of a tool that the client runs, and that is not a function, has its output.

    A search for tools, a click or a command that was aborted stays open, and every later request is rejected.
    To fix it, send the output that belongs to the kind of the call, with its `call_id`, also where the tool failed.
    """
    asked = pairing_id(item.kind, item.value)
    if is_answered(context.index, item):
        return []
    values = {"id": asked, "kind": item.kind, "name": item.kind.replace("_", " "), "index": item.number}
    return [Fault(f"expected the output of this {item.kind}, {asked!r}, after it, got none", values=values)]
