from typing import Any

from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import request_has_tool_choice
from conformance.wire.elements import Body
from conformance.wire.views import requests

_REFUSED = {"tools.choices": ["auto", "none"], "tools.choice-unsupported": {"status": 400, "message": "no {value}"}}
_KINDS = ("auto", "none", "required", "named", "allowed_tools")
_CHOICE = "/0/request/tool_choice"
_NAMED = {"type": "function", "function": {"name": "get_weather"}}


@rule(
    Level.MUST,
    on=requests,
    among=request_has_tool_choice,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/completion_create_params.py",
        quote="Controls which (if any) tool is called by the model",
    ),
    bad=[
        example("tool-call", {_CHOICE: "required"}, _REFUSED),
        example("tool-call", {_CHOICE: _NAMED}, _REFUSED),
        example("messages-session", {_CHOICE: {"type": "any"}}, _REFUSED),
    ],
    good=[example("tool-call", {_CHOICE: "auto"}, _REFUSED)],
    needs=("tools.choices", "tools.choice-unsupported"),
    claim="tools.choice-unsupported",
    wires=EVERY,
    reach=BESIDE,
)
def judge(request: Body, context: Context) -> list[Fault]:
    """`tool_choice` has a value that the model accepts.

    Forms that the canonical wire does not have are not checked, because it is unknown who accepts them. To fix it,
    leave the choice to the model, and ask for the call in the prompt.
    """
    kind = _kind(request.value["tool_choice"])
    choices = context.claim("tools.choices")
    if kind in choices or kind not in _KINDS or context.claim("tools.choice-unsupported") == "accepted":
        return []
    message = f"expected one of {', '.join(choices)}, got {kind}"
    return [Fault(message, at=("tool_choice",), values={"value": kind, "model": request.exchange.model})]


def _kind(choice: Any) -> str:
    """Return the kind of a choice, in the words of the claim."""
    kind = choice.get("type") if type(choice) is dict else choice
    if kind == "function":
        return "named"
    return "required" if kind == "any" else str(kind)[:40]
