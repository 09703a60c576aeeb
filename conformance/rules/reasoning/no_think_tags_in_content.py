from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.reasoning_claims import reply_fields
from conformance.wire.elements import Reply
from conformance.wire.reasoning import TAGS, find_tagged
from conformance.wire.views import replies


def _has_text(reply: Reply, context: Context) -> bool:
    content = reply.message.get("content")
    return type(content) is str and bool(content) and TAGS.keys().isdisjoint(reply_fields(context))


@rule(
    Level.SHOULD,
    on=replies,
    where=_has_text,
    source=Source("schemas/canonical/transcript.json", "never between tags in the content"),
    bad=[
        example("plain", {"/0/response/choices/0/message/content": "<think>\nMay is mild.\n</think>\n\nRarely."}),
        example("plain", {"/0/response/choices/0/message/content": "May is mild.\n</think>\n\nRarely."}),
        example("stream-plain", {"/0/response/1/choices/0/delta/content": "<think>May is mild"}),
    ],
    good=[
        example("plain"),
        example("stream-plain"),
        example("plain", {"/0/response/choices/0/message/content": "Write `<think>…</think>` before the answer."}),
    ],
    reads=("reasoning.response-field", "reasoning.response-field-switches"),
)
def judge(reply: Reply, _context: Context) -> list[Fault]:
    """The content of a reply does not start with reasoning in <think> tags.

    A client that shows the content shows the reasoning, stores it as the answer and sends it back on every turn.
    To fix it, let the server separate the two (a reasoning parser), or claim the tags for a provider that documents
    them.
    """
    if find_tagged(reply.message["content"]) is None:
        return []
    return [Fault("expected the answer alone, got reasoning in <think> tags before it", at=("message", "content"))]
