from collections.abc import Iterator, Mapping
from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, requests
from conformance.wire.values import objects
from conformance.wires.responses.kinds import CALLS, OUTPUTS, kind_of

_CLAIM = "responses.split-calls"
_REFUSED = {_CLAIM: {"status": 400, "message": "No tool output found for tool call {id}"}}
_MESSAGE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One moment."}]}


def _call(number: int) -> Mapping[str, Any]:
    return {"type": "function_call", "call_id": f"call_{number}", "name": "get_weather", "arguments": "{}"}


def _output(number: int) -> Mapping[str, Any]:
    return {"type": "function_call_output", "call_id": f"call_{number}", "output": "18 degrees"}


_USER = {"type": "message", "role": "user", "content": "What is the weather?"}
_TOGETHER = [_USER, _MESSAGE, _call(1), _call(2), _output(1), _output(2)]
_SPLIT = [_USER, _call(1), _MESSAGE, _call(2), _output(1), _output(2)]


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    source=Source(
        package="pypi/pydantic-ai-slim@2.68.0:pydantic_ai/models/openai/_responses_model.py#L3347",
        quote="the interleaved order is rejected with them",
    ),
    bad=[example("responses-request", {"/0/request/input": _SPLIT}, _REFUSED)],
    good=[example("responses-request", {"/0/request/input": _TOGETHER}, _REFUSED)],
    needs=(_CLAIM,),
    claim=_CLAIM,
    wires=("responses",),
)
def judge(request: NativeBody, _context: Context) -> list[Fault]:
    """The calls of one turn stand together, at its end, where the host does not find them otherwise.

    A host that turns items into messages takes the calls before a message or a reasoning item for a turn of their own,
    whose outputs are missing. To fix it, move the messages and the reasoning of the turn before its calls.
    """
    return [
        Fault(
            f"expected the calls of a turn one after the other, got {kind} between them",
            ("input", number),
            values={"id": call, "index": number, "kind": kind},
        )
        for number, kind, call in _between(request.value.get("input"))
    ]


def _between(listed: Any) -> Iterator[tuple[int, str, Any]]:
    """Yield the position and kind of each item between two calls, and the id of the call before it."""
    call: Any = None
    waiting: list[tuple[int, str, Any]] = []
    for number, item in objects(listed):
        kind = kind_of(item)
        if kind in OUTPUTS:
            call, waiting = None, []
        elif kind in CALLS:
            yield from waiting
            call, waiting = item.get("call_id"), []
        elif call is not None and (kind == "reasoning" or item.get("role") == "assistant"):
            waiting.append((number, kind, call))
