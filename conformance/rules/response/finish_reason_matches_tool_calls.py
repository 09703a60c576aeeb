"""Rule: the finish reason tells a client to run tools."""

from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
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
    where=lambda reply, _context: type(reply.finish_reason) is str and reply.finish_reason not in _CUT_OR_NONE,
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
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """The finish reason is tool_calls exactly when the reply holds tool calls.

    Agent loops go on or end by it: calls under `stop` are never run, `tool_calls` without calls is a loop without
    work. A reply that was cut (`length`, `content_filter`) is excepted; where `tool_choice` names a function, `stop`
    is as usual, since the first provider of this wire gives it there. To fix it, reply with `tool_calls`.
    """
    reason = reply.finish_reason
    if not reply.calls:
        if reason != _CALLS:
            return []
        return [Fault("expected tool calls or another finish_reason, got 'tool_calls' alone", at=("finish_reason",))]
    if reason == _CALLS and not context.claims:
        return []
    expected = _expected(reply, context)
    if reason in expected or reason in _listed(context.claim("finish.with-truncated-call")):
        return []
    message = f"expected finish_reason {' or '.join(map(repr, expected))} beside tool calls, got {reason[:40]!r}"
    return [Fault(message, at=("finish_reason",))]


def _expected(reply: Reply, context: Context) -> tuple[str, ...]:
    """Return the reasons that may stand beside calls, by how the request chose tools."""
    choice = reply.request.get("tool_choice") if reply.request is not None else None
    usual = _listed(context.claim("finish.with-calls")) or (_CALLS,)
    if reply.streamed:
        usual = _listed(context.claim("finish.with-calls-in-stream")) or usual
    if type(choice) is dict and "function" in choice:
        return _listed(context.claim("finish.with-named-tool-choice")) or (_CALLS, "stop")
    if choice == "required":
        return _listed(context.claim("finish.with-required-tool-choice")) or usual
    return usual


def _listed(claimed: Any) -> tuple[str, ...]:
    return (claimed,) if type(claimed) is str else tuple(claimed or ())
