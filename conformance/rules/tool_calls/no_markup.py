from collections.abc import Iterator
from typing import Final

from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.leaks import argument_leak, described, name_leak
from conformance.wire.elements import Call
from conformance.wire.views import reply_calls

_FUNCTION: Final = "/0/response/choices/0/message/tool_calls/0/function"


@rule(
    Level.MUST,
    on=reply_calls,
    source=Source(
        "https://github.com/vllm-project/vllm/issues/32587",
        "gpt-oss special tokens leak into tool names and responses",
    ),
    bad=[
        example("tool-call", {f"{_FUNCTION}/name": "get_weather<|channel|>commentary"}),
        example("tool-call", {f"{_FUNCTION}/name": "functions.get_weather"}),
        example("tool-call", {f"{_FUNCTION}/arguments": '{"city": "Paris</parameter>"}'}),
        example("tool-call", {f"{_FUNCTION}/arguments": '{"city": "<|\\"|>Paris<|\\"|>"}'}),
        example("tool-call", {f"{_FUNCTION}/arguments": '{"city": "Paris"}</tool_call>'}),
    ],
    good=[
        example("tool-call"),
        example("tool-call", {f"{_FUNCTION}/arguments": '{"city": "<parameter>Paris</parameter>"}'}),
        example("tool-call", {f"{_FUNCTION}/arguments": '{"city": "<|im_end|>"}'}),
    ],
    reads=("reply.parsers",),
    wires=EVERY,
)
def judge(call: Call, context: Context) -> list[Fault]:
    """The name and the arguments of a reply's tool call have no markup of its model.

    A client knows no tool by such a name, and runs a tool with values that the model did not mean. A value that is a
    marker and nothing else may be meant. To fix it, update the parser of the server: it ends the name or the value
    before the marker.
    """
    return list(_faults(call, context))


def _faults(call: Call, context: Context) -> Iterator[Fault]:
    leak = name_leak(call.name, context)
    if leak is not None:
        message = f"expected the name of a function, got {call.name!r:.60} with {described(leak, context)}"
        yield Fault(message, at=("function", "name"))
    leak = argument_leak(call.arguments)
    if leak is not None:
        yield Fault(f"expected arguments alone, got {described(leak, context)}", at=("function", "arguments"))
