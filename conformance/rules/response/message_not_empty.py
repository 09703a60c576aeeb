from conformance.results import Harm, Level
from conformance.rules import WITH_IDS, Context, Fault, Source, described_by, example, rule
from conformance.wire.elements import Reply
from conformance.wire.views import replies

_CONTENT = "/0/response/choices/0/message/content"
_CONTENT_KEYS = (
    "content", "refusal", "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "function_call",
    "audio", "images", "reasoning_text", "reasoning_opaque", "extra_content",
)  # fmt: skip


def _has_ended(reply: Reply, context: Context) -> bool:
    native = context.exchange.native
    if native is not None and native.reply is not None and (native.reply.get("content") or native.reply.get("output")):
        # What chat completions has no counterpart for, such as the calls of hosted tools, is content, too.
        return False
    return bool(reply.finish_reason == "stop")


@rule(
    Level.SHOULD,
    on=replies,
    harm=Harm.LOOP,
    where=_has_ended,
    source=Source("https://github.com/deepseek-ai/DeepSeek-V3/issues/1453"),
    bad=[
        example("plain", {_CONTENT: ""}),
        example("stream-plain", {"/0/response/1/choices/0/delta": {}, "/0/response/2/choices/0/delta": {}}),
        example("messages-plain", {"/0/response/content": []}),
    ],
    good=[
        example("plain", {_CONTENT: None, "/0/response/choices/0/message/refusal": "No."}),
        example("plain", claims={"reply.may-be-empty": False}),
    ],
    known_by=described_by("reply.may-be-empty"),
    reads=("reply.may-be-empty",),
    wires=WITH_IDS,
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """A reply that ends with `stop` has content, reasoning, a refusal or tool calls.

    An empty reply with status 200 looks like an answer: the loop ends and the user sees nothing. To fix it, fail the
    request, or ask the model again.
    """
    message = reply.message
    if message.get("content") or reply.calls:
        return []
    if any(message.get(key) for key in _CONTENT_KEYS):
        return []
    return [Fault("expected content, reasoning, a refusal or tool calls, got none of them", at=("message",))]
