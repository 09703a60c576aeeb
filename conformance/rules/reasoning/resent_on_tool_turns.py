from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import TURN, WITH_REASONING, Context, Fault, Source, example, rule
from conformance.rules.context import as_words, is_refusal
from conformance.rules.reasoning_claims import INPUTS, REQUIRED, is_lost, is_required, omission, request_fields
from conformance.wire.elements import Resent
from conformance.wire.reasoning import TAGS, carried_fields, has_field, present_fields
from conformance.wire.views import resent


def _applies(returned: Resent, context: Context) -> bool:
    """Return whether this turn should carry reasoning; another rule reports what the provider requires."""
    if not returned.reply.calls or context.thinks is False or not carried_fields(returned.reply.message):
        return False
    sent = any([has_field(returned.value, field) for field in request_fields(context)])
    if not sent and is_required(context, current=returned.current):
        return False
    if not returned.current and is_refusal(context.claims.get("reasoning.on-earlier-tool-turn")):
        return False
    fields = as_words(context.claim("reasoning.request-field")) or carried_fields(returned.reply.message)
    return not all(field == "none" or is_refusal(context.claims.get(f"reasoning.input.{field}")) for field in fields)


@rule(
    Level.MUST,
    on=resent,
    reach=TURN,
    where=_applies,
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
        example(
            "stream-thinking-session",
            {"/1/request/messages/1/reasoning_content": REMOVE},
            {"reasoning.omitted-on-tool-turn": "accepted"},
        ),
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
    claim="reasoning.omitted-on-tool-turn",
    reads=(
        "reasoning.request-field",
        "reasoning.on-earlier-tool-turn",
        *REQUIRED,
        *INPUTS,
        *[f"reasoning.input.{field}" for field in ("extra_content", *TAGS)],
    ),
    wires=WITH_REASONING,
)
def judge(returned: Resent, context: Context) -> list[Fault]:
    """The reasoning of a reply with tool calls is sent back with it.

    A thinking model that called a tool continues from its reasoning when the result arrives. Without it, the model
    starts over, calls the tool again or answers worse, and some providers reject the request. A provider that accepts
    the request all the same does not make the loss harmless, so it stays a MUST, unless the provider is known not to
    read the reasoning. In a turn before the last user message, it is a SHOULD where the profile says that the reasoning
    may be left out, and on Messages and Responses, where the vendor does. This rule does not check which field carries
    it. To fix it, store the reasoning of each reply beside its calls and send both back.
    """
    value = returned.value
    if present_fields(value) or any(field in TAGS and has_field(value, field) for field in request_fields(context)):
        return []
    under = ", ".join(carried_fields(returned.reply.message))
    message = f"expected the reasoning that the reply has in {under}, got none"
    needed = is_lost(context, current=returned.current)
    is_loss, level = needed and _is_read(returned, context), None if needed else Level.SHOULD
    return [Fault(message, claim=omission(current=returned.current), level=level, is_loss=is_loss)]


def _is_read(returned: Resent, context: Context) -> bool:
    """Return whether the model would have read the reasoning, as far as the claims say."""
    if not returned.current and context.claim("reasoning.on-earlier-tool-turn") == "ignored":
        return False
    return any(context.claim(f"reasoning.input.{field}") != "ignored" for field in request_fields(context))
