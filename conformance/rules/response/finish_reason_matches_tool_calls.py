from conformance.results import Harm, Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_has_finish_reason
from conformance.rules.context import as_words
from conformance.wire.elements import Reply
from conformance.wire.views import replies

_CALLS = "tool_calls"
_CUT_OR_NONE = frozenset({"length", "content_filter", "error", ""})
_NAMED = {"/0/request/tool_choice": {"type": "function", "function": {"name": "get_weather"}}}
_UNDER_STOP = {"/0/response/choices/0/finish_reason": "stop"}
_STOPS = {**_NAMED, **_UNDER_STOP}


@rule(
    Level.MUST,
    on=replies,
    harm=Harm.LOOP,
    among=reply_has_finish_reason,
    where=lambda reply, _context: reply.finish_reason not in _CUT_OR_NONE,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/object", "tool_calls if the model called a tool"
    ),
    bad=[
        example("tool-call", _UNDER_STOP),
        example("plain", {"/0/response/choices/0/finish_reason": "tool_calls"}),
        example("stream-tool-calls", {"/0/response/9/choices/0/finish_reason": "stop"}),
        example("tool-call", _STOPS, {"finish.with-named-tool-choice": "tool_calls"}),
    ],
    good=[
        example("tool-call"),
        example("tool-call", _STOPS),
        example("tool-call", _UNDER_STOP, {"finish.with-calls": ["stop", "tool_calls"]}),
    ],
    reads=(
        "finish.with-calls",
        "finish.with-calls-in-stream",
        "finish.with-named-tool-choice",
        "finish.with-required-tool-choice",
        "finish.with-truncated-call",
    ),
    wires=EVERY,
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """The finish reason is `tool_calls` if and only if the reply has tool calls.

    Agent loops continue or stop by it: calls under `stop` are never run, and `tool_calls` without calls loops with
    nothing to do. A truncated reply (`length`, `content_filter`) is exempt. If `tool_choice` names a function, `stop`
    is allowed too, because OpenAI returns it there. To fix it, reply with `tool_calls`.
    """
    reason = reply.finish_reason
    if not reply.calls:
        if reason != _CALLS:
            return []
        return [Fault("expected tool calls or another finish_reason, got neither", at=("finish_reason",))]
    # Without claims, this reason is expected for every `tool_choice`.
    if reason == _CALLS and not context.claims:
        return []
    expected = _expected(reply, context)
    if reason in expected or reason in as_words(context.claim("finish.with-truncated-call")):
        return []
    message = f"expected finish_reason {' or '.join(map(repr, expected))} beside tool calls, got {reason[:40]!r}"
    return [Fault(message, at=("finish_reason",))]


def _expected(reply: Reply, context: Context) -> tuple[str, ...]:
    """Return the finish reasons that a reply with calls may have, by the `tool_choice` of the request."""
    choice = reply.request.get("tool_choice") if reply.request is not None else None
    usual = as_words(context.claim("finish.with-calls")) or (_CALLS,)
    if reply.streamed:
        usual = as_words(context.claim("finish.with-calls-in-stream")) or usual
    if type(choice) is dict and "function" in choice:
        return as_words(context.claim("finish.with-named-tool-choice")) or (_CALLS, "stop")
    if choice == "required":
        return as_words(context.claim("finish.with-required-tool-choice")) or usual
    return usual
