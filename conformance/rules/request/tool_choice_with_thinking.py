"""Rule: no forced call while the model thinks."""

from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.parts import Body
from conformance.wire.views import requests

_CHOICE = "/0/request/tool_choice"
_NAMED = {"type": "function", "function": {"name": "get_weather"}}
_REFUSED = {"status": 400, "message": "Thinking mode does not support this tool_choice"}
_THINKS = {"thinking.mode": "always", "thinking.with-tool-choice": _REFUSED}
_THINKS_NOT = {"thinking.mode": "never", "thinking.with-tool-choice": _REFUSED}


@rule(
    Level.MUST,
    on=requests,
    where=lambda _request, context: (
        context.thinks is True and context.claim("thinking.with-tool-choice") not in ("accepted", "ignored")
    ),
    source=Source(
        "https://github.com/deepseek-ai/DeepSeek-V3/issues/1376", "Thinking mode does not support this tool_choice"
    ),
    bad=[
        example("tool-call", {_CHOICE: "required"}, _THINKS),
        example("tool-call", {_CHOICE: _NAMED}, _THINKS),
    ],
    good=[
        example("tool-call", {_CHOICE: "auto"}, _THINKS),
        example("tool-call", claims=_THINKS),
    ],
    needs=("thinking.with-tool-choice",),
    refused="thinking.with-tool-choice",
)
def judge(request: Body, _context: Context) -> list[Fault]:
    """A request forces no tool call while the model thinks, where the provider does not take both.

    To mend it, switch thinking off for that request, or ask for the call in words and leave `tool_choice` at `auto`.
    """
    kind = _forced(request.value.get("tool_choice"))
    if not kind:
        return []
    message = f"expected tool_choice to be auto or none while the model thinks, got {kind}"
    return [Fault(message, at=("tool_choice",), values={"value": kind, "model": request.exchange.model})]


def _forced(choice: Any) -> str:
    """Return in one word how a call is forced; empty where none is. The word for a named one is Moonshot's."""
    if choice in ("required", "any"):
        return str(choice)
    return "specified" if type(choice) is dict and type(choice.get("function")) is dict else ""
