from conformance.results import Harm, Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import has_answer, has_reasoning
from conformance.wire.elements import Reply
from conformance.wire.views import replies

_MESSAGE = "/0/response/choices/0/message"
_THOUGHT = {"type": "thinking", "thinking": "They thank me.", "signature": "c2lnbmVkLTM="}
_SUMMARY = {"type": "reasoning", "id": "rs_03", "summary": [{"type": "summary_text", "text": "One more call."}]}


@rule(
    Level.SHOULD,
    on=replies,
    harm=Harm.LOOP,
    where=lambda reply, _context: bool(reply.finish_reason == "stop") and has_reasoning(reply),
    source=Source(
        "https://github.com/ollama/ollama/issues/15288",
        "the `content` field is always empty and all generated text appears only in the `reasoning` field",
    ),
    bad=[
        example("plain", {f"{_MESSAGE}/content": "", f"{_MESSAGE}/reasoning_content": "It is warm."}),
        example("messages-plain", {"/0/response/content": [_THOUGHT]}),
        example("responses-request", {"/0/response/output": [_SUMMARY]}),
    ],
    good=[example("plain", {f"{_MESSAGE}/reasoning_content": "It is warm."})],
    wires=EVERY,
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """A reply with reasoning that ends with `stop` has content, a refusal or tool calls, too.

    The model stopped behind its reasoning, mostly after tool results, or a server took the answer for reasoning. The
    loop ends without an answer, and the user sees nothing. To fix it, ask the model again, or separate reasoning and
    answer in the server.
    """
    if has_answer(reply, context):
        return []
    return [Fault("expected content, a refusal or tool calls beside the reasoning, got none of them", at=("message",))]
