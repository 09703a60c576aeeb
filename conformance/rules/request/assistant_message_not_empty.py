"""Rule: an assistant message says or calls something."""

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Message
from conformance.wire.views import plain_turns

_CONTENT = "/0/request/messages/2/content"
_REFUSED = {"status": 400, "message": "content or tool_calls must be set"}
_INSTEAD = ("refusal", "function_call", "audio")
"""What may stand in the place of content: a refusal, a call of the kind before tools, a spoken reply."""


@rule(
    Level.MUST,
    on=plain_turns,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/create",
        "The contents of the assistant message. Required unless `tool_calls` or `function_call` is specified.",
    ),
    bad=[
        example("request-plain-turns", {_CONTENT: None}),
        example("request-plain-turns", {_CONTENT: ""}),
        example("request-plain-turns", {_CONTENT: []}),
        example("request-plain-turns", {_CONTENT: REMOVE}, {"content.absent-on-plain-turn": _REFUSED}),
    ],
    good=[
        example("request-plain-turns"),
        example(
            "request-plain-turns",
            {_CONTENT: None, "/0/request/messages/2/refusal": "I cannot help with that."},
        ),
    ],
)
def judge(message: Message, _context: Context) -> list[Fault]:
    """An assistant message carries content or tool calls.

    Replies that held reasoning alone, or that were cut before their first word, leave such messages behind.
    To fix it, leave the whole message out when the next request is built.
    """
    value = message.value
    if value.get("content") or any(value.get(name) for name in _INSTEAD):
        return []
    content = value.get("content", ...)
    if content not in (..., None, "", []):
        return []
    form = "absent" if content is ... else "null" if content is None else "empty"
    got = "neither" if content is ... else f"content {content!r} and no calls"
    return [
        Fault(
            f"expected content or tool calls, got {got}",
            at=() if content is ... else ("content",),
            values={"role": "assistant"},
            claim=f"content.{form}-on-plain-turn",
        )
    ]
