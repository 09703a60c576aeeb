from collections.abc import Mapping
from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.values import objects
from conformance.wires.responses.kinds import CALLS, kind_of
from conformance.wires.responses.views import SentState, sent_states

_NEW = "expected only what is new, as previous_response_id stands for the rest, got the"
_DUPLICATE = "responses.duplicate-item"
_CALL = {"type": "function_call", "call_id": "call_a", "name": "get_weather", "arguments": '{"city": "Paris"}'}
_REFERENCES = [{"type": "item_reference", "id": "rs_01"}, {"type": "item_reference", "id": "fc_01"}]
_OUTPUTS = [{"type": "function_call_output", "call_id": f"call_{each}", "output": "18"} for each in "ab"]


@rule(
    Level.MUST,
    on=sent_states,
    where=lambda state, _context: bool(state.held),
    source=Source(
        "https://github.com/MacPaw/OpenAI/issues/432", "the Responses API already has the function-call item"
    ),
    bad=[
        example("responses-held-session", {"/1/request/input": [*_REFERENCES, *_OUTPUTS]}),
        example("responses-held-session", {"/1/request/input": [_CALL, *_OUTPUTS]}),
    ],
    good=[example("responses-held-session")],
    reads=(_DUPLICATE,),
    wires=("responses",),
)
def judge(state: SentState, _context: Context) -> list[Fault]:
    """A request that continues a response sends nothing again that the response holds.

    `previous_response_id` stands for everything that led to that response. An item that is sent beside it, whole or as
    an `item_reference`, is there twice: with its id the request is rejected, without it the model reads it twice.
    To fix it, send only the outputs of the last calls and the next message.
    """
    return [fault for position, item in objects(state.value.get("input")) if (fault := _fault(state, position, item))]


def _fault(state: SentState, position: int, item: Mapping[str, Any]) -> Fault | None:
    identity, call = item.get("id"), item.get("call_id")
    if type(identity) is str and state.held.has("id", identity):
        values = {"id": identity, "index": position}
        return Fault(f"{_NEW} item {identity!r} again", at=("input", position), values=values, claim=_DUPLICATE)
    if kind_of(item) in CALLS and type(call) is str and state.held.has("call_id", call):
        return Fault(f"{_NEW} call {call!r} again", at=("input", position), level=Level.SHOULD)
    return None
