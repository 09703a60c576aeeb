from typing import Final

from conformance.markup.signs import CALL, REMAINS, TOKEN
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.leaks import described, leaks_in, level_of
from conformance.wire.elements import Reply
from conformance.wire.text import said_text
from conformance.wire.views import replies

_CONTENT: Final = "/0/response/choices/0/message/content"
_KINDS: Final = (CALL, REMAINS, TOKEN)
_HERMES: Final = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
_PIECES: Final = "/0/response/{}/choices/0/delta/content"


@rule(
    Level.MUST,
    on=replies,
    where=lambda reply, _context: bool(reply.message.get("content")),
    source=Source(
        "https://github.com/vllm-project/vllm/issues/47903",
        "leaks raw <tool_call> markup into content (non-streaming)",
    ),
    bad=[
        example("plain", {_CONTENT: _HERMES}),
        example("plain", {_CONTENT: 'functions.get_weather:0{"city": "Oslo"}'}),
        example("plain", {_CONTENT: "Seldom.<|im_end|>"}),
        example("plain", {_CONTENT: "I will look it up.<tool_"}),
        example("stream-plain", {_PIECES.format(1): "Seldom.<|i", _PIECES.format(2): "m_end|>"}),
        example("messages-plain", {"/0/response/content/0/text": _HERMES}),
        example("tool-result", {_CONTENT: 'get_weather{"city": "Oslo"}'}),
    ],
    good=[
        example("plain", {_CONTENT: "Hermes writes `<tool_call>` before each call."}),
        example("plain", {_CONTENT: f"It looks so:\n\n```\n{_HERMES}\n```"}),
        example("plain", {_CONTENT: "<tool_call> is the tag that Granite writes."}),
        example("plain", {_CONTENT: 'get_weather{"city": "Oslo"}'}),
    ],
    reads=("reply.parsers",),
    wires=EVERY,
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """The content of a reply has no tool calls and no special tokens in the markup of its model.

    No client runs a call that stands in the content: an agent's loop ends there, and the user sees the markup, which
    goes back with the next request. Text about markup, such as code, is none. To fix it, start the server with the
    parser of the model's family, or update it; where tools were declared, a client may read the call from the text.
    """
    found = leaks_in(said_text(reply.message["content"]), reply, context, _KINDS)
    if not found:
        return []
    message = f"expected text, got {described(found[0], context)}"
    return [Fault(message, at=("message", "content"), level=level_of(found[0], reply, context.exchange.model))]
