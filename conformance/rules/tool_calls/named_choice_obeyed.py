from typing import Any

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_can_obey, reply_to_tool_choice
from conformance.wire.elements import Reply
from conformance.wire.values import as_object, objects
from conformance.wire.views import replies

_MESSAGE = "/0/response/choices/0/message"
_CHOICE = {"type": "function", "function": {"name": "get_weather"}}
_OTHER = {"type": "function", "function": {"name": "get_time"}}


_ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [_CHOICE]}}


def _is_named(reply: Reply, context: Context) -> bool:
    return bool(_names(reply, context)) and reply_can_obey(reply, context, "named")


def _names(reply: Reply, context: Context) -> list[Any]:
    """Return the names of the functions that the request limits a reply to; empty if it does not."""
    native = context.exchange.native
    if native is not None and native.facts.get("allowed"):
        return list(native.facts["allowed"])
    choice = as_object((reply.request or {}).get("tool_choice"))
    listed = as_object(choice.get("allowed_tools")).get("tools")
    tools = [tool for _, tool in objects(listed)] if listed is not None else [choice]
    functions = [tool.get("function", tool.get("custom")) for tool in tools]
    return [name for function in functions if type(name := as_object(function).get("name")) is str]


@rule(
    Level.MUST,
    on=replies,
    among=reply_to_tool_choice,
    where=_is_named,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create", "forces the model to call that tool"),
    bad=[
        example(
            "tool-call",
            {
                "/0/request/tool_choice": _CHOICE,
                f"{_MESSAGE}/tool_calls": REMOVE,
                f"{_MESSAGE}/content": "It is mild.",
                "/0/response/choices/0/finish_reason": "stop",
            },
        ),
        example("tool-call", {"/0/request/tools/-": _OTHER, "/0/request/tool_choice": _OTHER}),
        example(
            "tool-call",
            {
                "/0/request/tools/-": _OTHER,
                "/0/request/tool_choice": {
                    "type": "allowed_tools",
                    "allowed_tools": {"mode": "auto", "tools": [_OTHER]},
                },
            },
        ),
    ],
    good=[
        example("tool-call", {"/0/request/tool_choice": _CHOICE}),
        example("tool-call", {"/0/request/tool_choice": _ALLOWED}),
    ],
    reads=("tools.choices-obeyed",),
    wires=EVERY,
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """A reply calls the function that `tool_choice` names, and no other.

    Structured output depends on it: clients read the call's arguments and nothing else. A choice may also list the
    functions that are allowed. To fix it, constrain decoding to these functions, or reject the request; a reply in
    words is neither.
    """
    names = _names(reply, context)
    listed = " or ".join([repr(name)[:60] for name in names[:5]])
    if not reply.calls and type((reply.request or {}).get("tool_choice")) is dict and _is_one(reply):
        return [Fault(f"expected a call of {listed}, got none", at=("message",))]
    return [
        Fault(f"expected a call of {listed}, got one of {call.name!r:.60}", place=(*call.place, "function", "name"))
        for call in reply.calls
        if call.name not in names
    ]


def _is_one(reply: Reply) -> bool:
    """Return whether a choice names one function, which demands a call of it."""
    return "allowed_tools" not in as_object((reply.request or {}).get("tool_choice"))
