from conformance.results import Level
from conformance.rules import TURN, Context, Fault, Source, example, rule
from conformance.wire.values import as_object
from conformance.wires.responses.pairing import answered_kind, pairing_id
from conformance.wires.responses.views import SentItem, is_called, sent_items

_CALL = {"type": "tool_search_call", "call_id": "call_s", "execution": "client", "arguments": {}, "status": "completed"}
_OUTPUT = {"type": "tool_search_output", "call_id": "call_s", "execution": "client", "tools": [], "status": "completed"}
_SCREEN = {"type": "computer_call_output", "call_id": "call_x", "output": {"type": "computer_screenshot"}}
_AT = "/0/request/input"


def _answers(item: SentItem, _context: Context) -> bool:
    # What the server holds may have the call.
    request = as_object(item.native.request)
    is_held = request.get("previous_response_id") or request.get("conversation")
    return bool(answered_kind(item.kind)) and not is_held


@rule(
    Level.MUST,
    on=sent_items,
    reach=TURN,
    where=_answers,
    source=Source(
        "https://github.com/continuedev/continue/issues/10092",
        "No tool call found for function call output with call_id",
    ),
    bad=[
        example("responses-request", {f"{_AT}/-": _OUTPUT}),
        example("responses-request", {f"{_AT}/-": _SCREEN}),
    ],
    good=[example("responses-request", {f"{_AT}/5": _CALL, f"{_AT}/-": _OUTPUT})],
    claim="responses.output-without-call",
    wires=("responses",),
)
def judge(item: SentItem, context: Context) -> list[Fault]:
    """The output of a tool that is not a function stands behind its call.

    Items such as `tool_search_output` and `computer_call_output` answer a call of their own kind, by `call_id`. A
    client that keeps only the items that it knows drops the call. To fix it, keep both items, or drop both.
    """
    kind, answered = answered_kind(item.kind), pairing_id(item.kind, item.value)
    if is_called(context.index, item):
        return []
    values = {"id": answered, "kind": item.kind, "name": item.kind.replace("_", " "), "index": item.number}
    return [Fault(f"expected the {kind} {answered!r} before this {item.kind}, got none", values=values)]
