from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import NATIVE, Context, Fault, Source, example, native_keys, rule
from conformance.schemas import SchemaError, validator
from conformance.wire.native_views import NativeBody, requests

_MISSING = "request.missing-field"


@rule(
    Level.MUST,
    on=requests,
    source=Source(
        package="pypi/anthropic@2.12.0:anthropic/types/message_create_params.py",
        quote="Our models are trained to operate on alternating `user` and `assistant` conversational turns",
    ),
    bad=[
        example("messages-result", {"/0/request/max_tokens": REMOVE}),
        example("messages-result", {"/0/request/thinking/budget_tokens": REMOVE}),
        example("messages-result", {"/0/request/tool_choice": {"type": "sometimes"}}),
        example("messages-result", {"/0/request/messages/1/reasoning_content": "I think."}),
        example("responses-request", {"/0/request/tools/0/name": REMOVE}),
        example("responses-request", {"/0/request/input/2/name": REMOVE}),
    ],
    good=[
        example("messages-result"),
        example("messages-result", {"/0/request/tool_choice": {"type": "auto"}}),
        example("responses-request"),
    ],
    reads=(_MISSING, native_keys.MESSAGE),
    wires=NATIVE,
)
def judge(element: NativeBody, context: Context) -> list[Fault]:
    """A request on another wire has the keys and types that the wire defines.

    Servers reject a body that they cannot read, or read it differently from what was meant. To fix it, send what the
    schema in `schemas/wires/` asks for.
    """
    if native_keys.is_valid(element, context, "request"):
        return []
    judge_shape = validator(f"wires/{element.native.protocol}/request")
    return [fault for error in judge_shape.errors(element.value) for fault in _faults(element, error)]


def _faults(element: NativeBody, error: SchemaError) -> list[Fault]:
    """Return an error as faults; refusals name a missing key by its path, such as `tools[0].name`."""
    if error.extra:
        return [native_keys.fault(element, error.place, key) for key in error.extra]
    if not error.missing:
        return [Fault(error.message, at=error.place)]
    path = native_keys.bracketed((*error.place, error.missing))
    return [Fault(error.message, at=error.place, values={"field": path}, claim=_MISSING)]
