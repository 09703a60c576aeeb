from typing import Any

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import has_server_call, reply_can_obey, reply_to_tool_choice
from conformance.wire.elements import Reply
from conformance.wire.values import as_object
from conformance.wire.views import replies

_MESSAGE = "/0/response/choices/0/message"
_NAMED = {"type": "function", "function": {"name": "get_weather"}}
_REQUIRED = {"/0/request/tool_choice": "required"}


_IN_WORDS = {
    f"{_MESSAGE}/tool_calls": REMOVE,
    f"{_MESSAGE}/content": "It is mild.",
    "/0/response/choices/0/finish_reason": "stop",
}
_ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [_NAMED]}}


def _is_required(reply: Reply, context: Context) -> bool:
    return (
        reply.request is not None
        and _demands_any(reply.request.get("tool_choice"))
        and bool(reply.request.get("tools"))
        and reply_can_obey(reply, context, "required")
        and not has_server_call(context)
    )


def _demands_any(choice: Any) -> bool:
    """Return whether a choice demands a call, whichever it is; Mistral calls that `any`."""
    if choice in ("required", "any"):
        return True
    allowed = as_object(choice).get("allowed_tools")
    return as_object(allowed).get("mode") == "required"


@rule(
    Level.MUST,
    on=replies,
    among=reply_to_tool_choice,
    where=_is_required,
    source=Source(
        "https://platform.openai.com/docs/api-reference/chat/create", "the model must call one or more tools"
    ),
    bad=[
        example("tool-call", {**_REQUIRED, **_IN_WORDS}),
        example("tool-call", {"/0/request/tool_choice": "any", **_IN_WORDS}),
        example("tool-call", {"/0/request/tool_choice": _ALLOWED, **_IN_WORDS}),
        example("messages-plain", {"/0/request/tool_choice": {"type": "any"}, "/0/request/thinking": REMOVE}),
        example("gemini-result", {"/0/request/toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}),
    ],
    good=[example("tool-call", _REQUIRED), example("tool-call-parallel", _REQUIRED)],
    reads=("tools.choices-obeyed",),
    wires=EVERY,
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """A reply has a tool call if `tool_choice` is `required`.

    Agent loops that end with the call of a last tool never end without it. The call of a tool that the server runs
    counts. To fix it, constrain decoding to a call, or reject the request.
    """
    if reply.calls:
        return []
    return [Fault("expected a tool call, because tool_choice is required, got none", at=("message",))]
