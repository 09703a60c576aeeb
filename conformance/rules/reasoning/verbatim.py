"""Rule: reasoning comes back word for word."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.reasoning._fields import bites, carried, present, shown, text
from conformance.wire.index import Resent
from conformance.wire.views import resent


def _is_judged(part: Resent, _context: Context) -> bool:
    return bool(present(part.value)) and bool(carried(part.reply.message))


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
    from what it never thought. To mend it, store the text as it came, joined from the deltas with nothing between.
    """
    sent, message = part.value, part.reply.message
    fields = present(sent)
    if all(sent[field] == message.get(field) for field in fields if field in sent) and len(fields) == 1:
        return []
    given = [text(message, field) for field in carried(message)]
    faults = []
    for field in fields:
        if field == "reasoning_details" and type(message.get(field)) is list:
            continue
        value = text(sent, field)
        if value in given or (not value and _is_refused_empty(part, context)):
            continue
        if not any(given):
            continue
        said = f"expected {shown(given[0])} as the reply gave it, got {shown(value)}"
        at = (field,) if field in sent else ("content",)
        faults.append(Fault(said, at=at, values={"field": field}))
    return faults


def _is_refused_empty(part: Resent, context: Context) -> bool:
    """Say whether `not-empty-where-refused` speaks of this message."""
    claim = context.claims.get("reasoning.empty-on-tool-turn")
    return bool(part.reply.calls) and part.current and bites(claim) and context.thinks is True
