"""Rule: the reasoning of a tool turn comes back."""

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules._context import listed, refuses
from conformance.rules._reasoning import demanded, in_requests, omission
from conformance.wire.elements import Resent
from conformance.wire.reasoning import TAGS, carried_fields, has_field, present_fields
from conformance.wire.views import resent


def _is_judged(part: Resent, context: Context) -> bool:
    """Say whether this turn is to carry reasoning; that it lacks what the provider demands is for another rule."""
    if not part.reply.calls or context.thinks is False or not carried_fields(part.reply.message):
        return False
    if demanded(context, current=part.current) and not any(
        has_field(part.value, field) for field in in_requests(context)
    ):
        return False
    if not part.current and refuses(context.claims.get("reasoning.on-earlier-tool-turn")):
        return False
    fields = listed(context.claim("reasoning.request-field")) or carried_fields(part.reply.message)
    return not all(field == "none" or refuses(context.claims.get(f"reasoning.input.{field}")) for field in fields)


@rule(
    Level.MUST,
    on=resent,
    where=_is_judged,
    source=Source(
        "schemas/canonical/transcript.json",
        "The reasoning of an assistant message with tool calls is sent back with it",
    ),
    bad=[
        example(
            "thinking-session",
            {
                "/1/request/messages/2/reasoning_content": REMOVE,
                "/2/request/messages/2/reasoning_content": REMOVE,
                "/3/request/messages/2/reasoning_content": REMOVE,
            },
        ),
        example("stream-thinking-session", {"/1/request/messages/1/reasoning_content": REMOVE}),
        example("details-session", {"/2/request/messages/5/reasoning_details": REMOVE}),
    ],
    good=[
        example("thinking-session"),
        example("details-session"),
        example(
            "stream-thinking-session",
            {
                "/1/request/messages/1/reasoning_content": REMOVE,
                "/1/request/messages/1/reasoning": "I need the weather.",
            },
        ),
    ],
    refused="reasoning.omitted-on-tool-turn",
)
def judge(part: Resent, context: Context) -> list[Fault]:
    """The reasoning of a reply with tool calls comes back with it.

    A thinking model that called a tool goes on with its thought when the result is in; without the thought it starts
    anew, calls again or answers worse, and some providers refuse. Which field carries it is not looked at here.
    To fix it, store the reasoning of each reply beside its calls and send both.
    """
    value = part.value
    if present_fields(value) or any(field in TAGS and has_field(value, field) for field in in_requests(context)):
        return []
    under = ", ".join(carried_fields(part.reply.message))
    message = f"expected the reasoning that the reply gave under {under}, got none"
    return [Fault(message, claim=omission(current=part.current))]
