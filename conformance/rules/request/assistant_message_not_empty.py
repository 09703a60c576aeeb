from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.elements import Message
from conformance.wire.views import plain_turns

_CONTENT = "/0/request/messages/2/content"
_REFUSED = {"status": 400, "message": "content or tool_calls must be set"}
_ALTERNATIVES = ("refusal", "function_call", "audio")
"""Keys that replace content: a refusal, a legacy function call, a spoken reply."""


@rule(
    Level.MUST,
    on=plain_turns,
    reach=ELEMENT,
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
    reads=tuple([f"content.{form}-on-plain-turn" for form in ("absent", "null", "empty")]),
)
def judge(message: Message, _context: Context) -> list[Fault]:
    """An assistant message has content or tool calls.

    Replies that held only reasoning, or that were cut off before their first word, leave such messages behind.
    To fix it, omit the whole message from the next request.
    """
    value = message.value
    if value.get("content") or any(value.get(name) for name in _ALTERNATIVES):
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
