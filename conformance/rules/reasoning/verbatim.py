"""Rule: reasoning comes back word for word."""

from typing import Any

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules._context import bites
from conformance.rules._reasoning import demanded, in_requests
from conformance.wire.elements import Resent
from conformance.wire.reasoning import carried_fields, present_fields, reasoning_text
from conformance.wire.text import quoted
from conformance.wire.views import resent

_ABSENT = object()


def _is_judged(part: Resent, _context: Context) -> bool:
    return bool(present_fields(part.value)) and bool(carried_fields(part.reply.message))


@rule(
    Level.MUST,
    on=resent,
    where=_is_judged,
    source=Source("https://docs.z.ai/guides/capabilities/thinking-mode"),
    bad=[
        example(
            "thinking-session",
            {f"/{number}/request/messages/2/reasoning_content": "Two calls." for number in (1, 2, 3)},
        ),
        example("stream-thinking-session", {"/1/request/messages/1/reasoning_content": "I need the"}),
        example("stream-thinking-session", {"/1/request/messages/1/reasoning_content": ""}),
    ],
    good=[example("thinking-session"), example("stream-thinking-session"), example("details-session")],
    refused="reasoning.altered",
)
def judge(part: Resent, context: Context) -> list[Fault]:
    """Reasoning that is sent back is the text that the reply gave.

    A summary, a trimmed or a re-encoded text is another thought: it misses the prompt cache, and the model goes on
    from what it never thought. To fix it, store the text as it came, joined from the deltas with nothing between.
    """
    sent, message = part.value, part.reply.message
    fields = present_fields(sent)
    if len(fields) == 1 and sent.get(fields[0], _ABSENT) == message.get(fields[0]):
        return []
    given = [said for said in (reasoning_text(message, field) for field in carried_fields(message)) if said]
    if not given:
        return []
    return [_fault(given[0], field, sent) for field in fields if not _is_right(field, given, part, context)]


def _is_right(field: str, given: list[str], part: Resent, context: Context) -> bool:
    """Say whether a field holds what the reply said, or is another rule's to judge."""
    sent = part.value
    if field == "reasoning_details" and type(part.reply.message.get(field)) is list:
        return True
    said = reasoning_text(sent, field)
    if said:
        return said in given
    return bool(carried_fields(sent)) or _counts_as_none(field, part, context)


def _fault(given: str, field: str, sent: dict[str, Any]) -> Fault:
    message = f"expected {quoted(given)} as the reply gave it, got {quoted(reasoning_text(sent, field))}"
    return Fault(message, at=(field if field in sent else "content",), values={"field": field})


def _counts_as_none(field: str, part: Resent, context: Context) -> bool:
    """Say whether an empty field is the same as none to the provider, of which other rules speak."""
    if not part.reply.calls or context.thinks is not True:
        return False
    if demanded(context, current=part.current) and field not in in_requests(context):
        return True
    return part.current and bites(context.claims.get("reasoning.empty-on-tool-turn"))
