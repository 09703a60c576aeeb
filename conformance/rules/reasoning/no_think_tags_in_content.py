from conformance.markup.signs import REASONING
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.leaks import described, leaks_in, level_of
from conformance.rules.reasoning_claims import reply_fields
from conformance.wire.elements import Reply
from conformance.wire.reasoning import TAGS
from conformance.wire.text import said_text
from conformance.wire.views import replies


def _has_text(reply: Reply, context: Context) -> bool:
    return bool(reply.message.get("content")) and TAGS.keys().isdisjoint(reply_fields(context))


@rule(
    Level.MUST,
    on=replies,
    where=_has_text,
    source=Source("schemas/canonical/transcript.json", "never between tags in the content"),
    bad=[
        example("plain", {"/0/response/choices/0/message/content": "<think>\nMay is mild.\n</think>\n\nRarely."}),
        example("plain", {"/0/response/choices/0/message/content": "May is mild.\n</think>\n\nRarely."}),
        example("stream-plain", {"/0/response/1/choices/0/delta/content": "<think>May is mild"}),
        example("plain", {"/0/response/choices/0/message/content": "<thinking>May is mild.</thinking>Seldom."}),
        example("plain", {"/0/response/choices/0/message/content": "analysisMay is mild.assistantfinalSeldom."}),
        example("messages-plain", {"/0/response/content/0/text": "[THINK]May is mild.[/THINK]Seldom."}),
    ],
    good=[
        example("plain"),
        example("stream-plain"),
        example("plain", {"/0/response/choices/0/message/content": "Write `<think>…</think>` before the answer."}),
    ],
    reads=("reasoning.response-field", "reasoning.response-field-switches", "reply.parsers"),
    wires=EVERY,
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """The content of a reply has no reasoning in the markup of its model, such as <think> tags.

    A client that shows the content shows the reasoning, stores it as the answer and sends it back on every turn.
    To fix it, let the server separate the two (a reasoning parser), or claim the tags for a provider that documents
    them.
    """
    found = leaks_in(said_text(reply.message["content"]), reply, context, (REASONING,))
    if not found:
        return []
    message = f"expected the answer alone, got {described(found[0], context)}"
    return [Fault(message, at=("message", "content"), level=level_of(found[0], reply, context.exchange.model))]
