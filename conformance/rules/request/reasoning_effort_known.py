from typing import Any

from conformance.documents.pointer import value_at
from conformance.results import Level
from conformance.rules import BESIDE, EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import body_as_sent
from conformance.wire.elements import Body
from conformance.wire.views import requests
from conformance.wires import by_name

_CLAIMS = {
    "thinking.efforts": ["low", "high"],
    "thinking.effort-unknown": {"status": 400, "message": "Unsupported value: '{value}'."},
}
_LEVELS = {"thinking.efforts": ["LOW", "HIGH"], "thinking.effort-unknown": {"status": 400}}
_CONFIG = "/0/request/generationConfig"


def _effort(request: Body, context: Context) -> Any:
    """Return the effort that a request asks for, on its own wire; in capitals where the wire's words are."""
    path = by_name(context.exchange.protocol).settings("effort")[0]
    effort = value_at(body_as_sent(request, context), path)
    is_enumeration = path[-1] == "thinkingLevel"
    return effort.upper() if is_enumeration and type(effort) is str else effort


@rule(
    Level.MUST,
    on=requests,
    where=lambda request, context: type(_effort(request, context)) is str,
    source=Source(
        package="pypi/openai@3.54.0:openai/types/chat/completion_create_params.py",
        quote="Constrains effort on reasoning for reasoning models. Currently supported values are",
    ),
    bad=[
        example("plain", {"/0/request/reasoning_effort": "ultra"}, _CLAIMS),
        example("plain", {"/0/request/reasoning_effort": "ultra"}, {**_CLAIMS, "thinking.effort-unknown": "ignored"}),
        example("messages-plain", {"/0/request/output_config": {"effort": "ultra"}}, _CLAIMS),
        example("gemini-result", {_CONFIG: {"thinkingConfig": {"thinkingLevel": "minimal"}}}, _LEVELS),
    ],
    good=[
        example("plain", {"/0/request/reasoning_effort": "low"}, _CLAIMS),
        example("gemini-result", {_CONFIG: {"thinkingConfig": {"thinkingLevel": "low"}}}, _LEVELS),
    ],
    needs=("thinking.efforts", "thinking.effort-unknown"),
    claim="thinking.effort-unknown",
    wires=EVERY,
    reach=BESIDE,
)
def judge(request: Body, context: Context) -> list[Fault]:
    """The effort of a request, such as `reasoning_effort`, is a value that the provider knows.

    The values differ by host and by model. To fix it, send the nearest value that the profile lists.
    """
    effort, known = _effort(request, context), context.claim("thinking.efforts")
    if effort in known or context.claim("thinking.effort-unknown") == "accepted":
        return []
    path = by_name(context.exchange.protocol).settings("effort")[0]
    message = f"expected one of {', '.join(known)}, got {effort[:40]!r}"
    values = {"value": effort, "field": ".".join(path), "model": request.exchange.model}
    return [Fault(message, at=path, values=values)]
