from conformance.documents.pointer import REMOVE
from conformance.protocols.views import NativeBody, requests
from conformance.results import Level
from conformance.rules import NATIVE, Context, Fault, Source, example, rule
from conformance.schemas import validator


@rule(
    Level.MUST,
    on=requests,
    source=Source("https://platform.claude.com/docs/en/api/messages"),
    bad=[
        example("messages-result", {"/0/request/max_tokens": REMOVE}),
        example("messages-result", {"/0/request/thinking/budget_tokens": REMOVE}),
        example("messages-result", {"/0/request/tool_choice": {"type": "sometimes"}}),
    ],
    good=[
        example("messages-result"),
        example("messages-result", {"/0/request/tool_choice": {"type": "auto"}}),
    ],
    wires=NATIVE,
)
def judge(element: NativeBody, _context: Context) -> list[Fault]:
    """A request on another wire has the keys and types that the wire defines.

    Servers reject a body that they cannot read, or read it differently from what was meant. To fix it, send what the
    schema in `schemas/protocols/` asks for.
    """
    judge_shape = validator(f"protocols/{element.native.protocol}/request")
    if judge_shape.is_valid(element.value):
        return []
    return [Fault(error.message, at=error.place) for error in judge_shape.errors(element.value)]
