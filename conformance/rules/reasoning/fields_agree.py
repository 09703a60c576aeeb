from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_has_reasoning
from conformance.wire.elements import Reply
from conformance.wire.reasoning import carried_fields, reasoning_text
from conformance.wire.text import quoted
from conformance.wire.views import replies


@rule(
    Level.SHOULD,
    on=replies,
    among=reply_has_reasoning,
    where=lambda reply, _context: len(carried_fields(reply.message)) > 1,
    source=Source("schemas/canonical/transcript.json", "If two fields hold reasoning, both hold the same text"),
    bad=[example("reply-thinking", {"/0/response/choices/0/message/reasoning": "A farewell."})],
    good=[example("reply-thinking", {"/0/response/choices/0/message/reasoning": "A greeting."})],
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """A reply with reasoning in two fields has the same text in both.

    A client reads one of them, stores it and sends it back; if they differ, the reasoning depends on the client.
    To fix it, fill both fields from one text.
    """
    message = reply.message
    texts = [(field, reasoning_text(message, field)) for field in carried_fields(message)]
    said = [(field, value) for field, value in texts if value]
    if len(said) < 2 or all(value == said[0][1] for _, value in said):
        return []
    first, expected = said[0]
    other, got = next(each for each in said if each[1] != expected)
    at = ("message", other if other in message else "content")
    return [Fault(f"expected {quoted(expected)} as in {first}, got {quoted(got)}", at=at)]
