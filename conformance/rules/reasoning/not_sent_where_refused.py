"""Rule: no reasoning where it is refused."""

from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules._context import refuses
from conformance.wire.elements import Body
from conformance.wire.reasoning import FIELDS, has_field
from conformance.wire.views import requests

_REFUSED = {
    "reasoning.input.reasoning_content": {
        "status": 400,
        "message": "'messages.{index}' : for 'role:{role}' the following must be satisfied"
        "[('messages.{index}' : property '{field}' is unsupported)]",
    }
}


def _refused(context: Context) -> list[str]:
    """Return the fields that the provider is known to refuse in an assistant message."""
    claims = context.claims
    return [field for field in FIELDS if refuses(claims.get(f"reasoning.input.{field}"))] if claims else []


def _assistants(body: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    messages = body.get("messages")
    return [
        (number, message)
        for number, message in enumerate(messages if type(messages) is list else ())
        if type(message) is dict and message.get("role") == "assistant"
    ]


@rule(
    Level.MUST,
    on=requests,
    where=lambda request, context: bool(_refused(context)) and bool(_assistants(request.value)),
    source=Source(
        "https://github.com/janhq/jan/issues/8136",
        "for 'role:assistant' the following must be satisfied"
        "[('messages.1' : property 'reasoning_content' is unsupported)]",
    ),
    bad=[
        example("reasoning-earlier-turn", claims=_REFUSED),
        example("reasoning-plain-turn", {"/0/request/messages/1/reasoning_content": "A greeting."}, _REFUSED),
    ],
    good=[
        example("reasoning-plain-turn", claims=_REFUSED),
        example("details-session", claims=_REFUSED),
    ],
)
def judge(request: Body, context: Context) -> list[Fault]:
    """An assistant message has no reasoning field that the provider refuses.

    What one provider demands is an unknown property to another, which then refuses the whole request. To fix it,
    leave the field out for this provider, or send the one that it reads.
    """
    refused = _refused(context)
    plain_is_claimed = context.knows(("reasoning.on-plain-turn",))
    faults = []
    for number, message in _assistants(request.value):
        if plain_is_claimed and not message.get("tool_calls"):
            # When reasoning is sent goes before under which name: `dropped-on-plain-turns` speaks of it.
            continue
        faults += [_fault(number, message, field) for field in refused if has_field(message, field)]
    return faults


def _fault(number: int, message: dict[str, Any], field: str) -> Fault:
    return Fault(
        f"expected no {field} in an assistant message, which this provider refuses",
        at=("messages", number, field if field in message else "content"),
        values={"field": field, "role": "assistant"},
        claim=f"reasoning.input.{field}",
    )
