from typing import Any

from conformance.results import Level
from conformance.rules import ELEMENT, Claimed, Context, Fault, Source, example, rule
from conformance.rules.context import is_refusal
from conformance.wire.elements import Body
from conformance.wire.reasoning import FIELDS, carried_fields, has_field
from conformance.wire.views import requests

_REFUSED = {
    "reasoning.input.reasoning_content": {
        "status": 400,
        "message": "'messages.{index}' : for 'role:{role}' the following must be satisfied"
        "[('messages.{index}' : property '{field}' is unsupported)]",
    }
}


def _refused(claimed: Claimed) -> list[str]:
    """Return the fields that the provider is known to reject in an assistant message."""
    claims = claimed.claims
    return [field for field in FIELDS if is_refusal(claims.get(f"reasoning.input.{field}"))] if claims else []


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    where=lambda _request, context: bool(context.assistants),
    when=lambda claimed: bool(_refused(claimed)),
    source=Source(
        "https://github.com/janhq/jan/issues/8136",
        "for 'role:assistant' the following must be satisfied"
        "[('messages.1' : property 'reasoning_content' is unsupported)]",
    ),
    bad=[
        example("reasoning-earlier-turn", claims=_REFUSED),
        example("reasoning-plain-turn", {"/0/request/messages/1/reasoning_content": "A greeting."}, _REFUSED),
        example(
            "reasoning-plain-turn",
            {"/0/request/messages/1/reasoning_content": "A greeting."},
            {**_REFUSED, "reasoning.on-plain-turn": "accepted"},
        ),
    ],
    good=[
        example("reasoning-plain-turn", claims=_REFUSED),
        example("details-session", claims=_REFUSED),
    ],
    reads=("reasoning.on-plain-turn", *[f"reasoning.input.{field}" for field in FIELDS]),
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """Assistant messages have no reasoning field that the provider rejects.

    A field that one provider requires is an unknown property to another, which then rejects the whole request. That it
    accepts reasoning in messages without tool calls is said of the field that it reads, not of this one. To fix it,
    omit the field for this provider, or send the one that it reads.
    """
    refused = context.derived(_refused)
    none_on_plain = context.rejects_or_damages("reasoning.on-plain-turn")
    faults = []
    for number, message in context.assistants:
        # `reasoning/dropped-on-plain-turns` covers what a plain turn carries.
        covered = carried_fields(message) if none_on_plain and not message.get("tool_calls") else ()
        fields = [field for field in refused if field not in covered and has_field(message, field)]
        faults += [_fault(number, message, field) for field in fields]
    return faults


def _fault(number: int, message: dict[str, Any], field: str) -> Fault:
    return Fault(
        f"expected no {field} in an assistant message, got one",
        at=("messages", number, field if field in message else "content"),
        values={"field": field, "role": "assistant"},
        claim=f"reasoning.input.{field}",
    )
