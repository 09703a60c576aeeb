from typing import Any

from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Claimed, Context, Fault, Source, example, rule
from conformance.rules.conditions import request_thinks
from conformance.rules.reasoning_claims import THINKS
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CHOICE = "/0/request/tool_choice"
_NAMED = {"type": "function", "function": {"name": "get_weather"}}
_REFUSED = {"status": 400, "message": "Thinking mode does not support this tool_choice"}
_SPECIFIC = {"required": "thinking.with-required-tool-choice", "specified": "thinking.with-named-tool-choice"}
_THINKS = {"thinking.mode": "always", "thinking.with-tool-choice": _REFUSED}


@rule(
    Level.MUST,
    on=requests,
    among=request_thinks,
    where=lambda request, context: _claim(request, context) is not None,
    when=lambda claimed: bool(claimed.claims),
    source=Source(
        "https://github.com/deepseek-ai/DeepSeek-V3/issues/1376", "Thinking mode does not support this tool_choice"
    ),
    bad=[
        example("tool-call", {_CHOICE: "required"}, _THINKS),
        example("tool-call", {_CHOICE: _NAMED}, _THINKS),
        example(
            "tool-call", {_CHOICE: _NAMED}, {"thinking.mode": "always", "thinking.with-named-tool-choice": _REFUSED}
        ),
    ],
    good=[
        example("tool-call", {_CHOICE: "auto"}, _THINKS),
        example("tool-call", claims=_THINKS),
    ],
    reads=(*_SPECIFIC.values(), "thinking.with-tool-choice", *THINKS),
    wires=EVERY,
    reach=BESIDE,
)
def judge(request: Body, context: Context) -> list[Fault]:
    """A request does not force a tool call while the model thinks if the provider rejects that.

    To fix it, turn thinking off for that request, or ask for the call in the prompt and leave `tool_choice` at `auto`.
    """
    kind = _forced(request.value.get("tool_choice"))
    if not kind:
        return []
    message = f"expected tool_choice to be auto or none while the model thinks, got {kind}"
    values = {"value": kind, "model": request.exchange.model}
    return [Fault(message, at=("tool_choice",), values=values, claim=_claim(request, context))]


def _claim(request: Body, context: Context) -> str | None:
    """Return the claim about a choice; None if it is tolerated or unknown."""
    return context.derived(_claims)["specified" if type(request.value.get("tool_choice")) is dict else "required"]


def _claims(claimed: Claimed) -> dict[str, str | None]:
    """Return the claim about each kind of choice, the specific one first."""
    return {kind: claimed.first_rejecting(name, "thinking.with-tool-choice") for kind, name in _SPECIFIC.items()}


def _forced(choice: Any) -> str:
    """Return how a call is forced, in one word; empty if it is not. The word for a named function is Moonshot's."""
    if choice in ("required", "any"):
        return str(choice)
    return "specified" if type(choice) is dict and type(choice.get("function")) is dict else ""
