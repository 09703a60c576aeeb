from conformance.results import Harm, Level
from conformance.rules import WITH_IDS, Context, Fault, Source, example, rule
from conformance.rules.conditions import has_answer, has_reasoning
from conformance.wire.elements import Reply
from conformance.wire.views import replies

_MAY_BE = "reply.may-be-empty"
_CONTENT = "/0/response/choices/0/message/content"
_EMPTY_TEXT = {"type": "message", "id": "msg_03", "role": "assistant", "status": "completed"}
_NOTHING_SAID = {**_EMPTY_TEXT, "content": [{"type": "output_text", "text": "", "annotations": []}]}


@rule(
    Level.SHOULD,
    on=replies,
    harm=Harm.LOOP,
    where=lambda reply, _context: bool(reply.finish_reason == "stop"),
    source=Source(
        "https://github.com/deepseek-ai/DeepSeek-V3/issues/1453",
        "deepseek-v4-pro returns empty response (out=0, no content or reasoning) after tool call results are fed back",
    ),
    bad=[
        example("plain", {_CONTENT: ""}),
        example("stream-plain", {"/0/response/1/choices/0/delta": {}, "/0/response/2/choices/0/delta": {}}),
        example("plain", {_CONTENT: "\n\n"}),
        example("messages-plain", {"/0/response/content": []}),
        example("messages-plain", {"/0/response/content": [{"type": "text", "text": ""}]}),
        example("responses-request", {"/0/response/output": [_NOTHING_SAID]}),
        example("plain", {_CONTENT: ""}, {_MAY_BE: True}),
    ],
    good=[
        example("plain", {_CONTENT: None, "/0/response/choices/0/message/refusal": "No."}),
        example("plain", claims={_MAY_BE: False}),
    ],
    reads=(_MAY_BE,),
    wires=WITH_IDS,
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """A reply that ends with `stop` has content, reasoning, a refusal or tool calls.

    An empty reply with status 200 looks like an answer: the loop ends and the user sees nothing. That a provider is
    known for it does not make it harmless. To fix it, fail the request, or ask the model again.
    """
    if has_answer(reply, context) or has_reasoning(reply):
        return []
    known = ", which this provider is known for" if context.claim(_MAY_BE) is True else ""
    message = f"expected content, reasoning, a refusal or tool calls, got none of them{known}"
    return [Fault(message, at=("message",))]
