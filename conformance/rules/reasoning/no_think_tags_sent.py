from conformance.results import Level
from conformance.rules import ELEMENT, Claimed, Context, Fault, Source, example, rule, unless_faulty
from conformance.rules.reasoning_claims import reply_fields
from conformance.wire.elements import Body
from conformance.wire.reasoning import TAGS, find_tagged
from conformance.wire.views import requests

_TAGGED = {"/0/request/messages/1/content": "<think>\nThe tool knows.\n</think>\n\n"}


def _has_no_tags(_request: Body, context: Context) -> bool:
    if not context.claims:
        return True
    return not context.derived(_are_sent) and TAGS.keys().isdisjoint(reply_fields(context))


def _are_sent(claimed: Claimed) -> bool:
    """Return whether the provider reads reasoning between tags."""
    return claimed.claims_any("reasoning.request-field", *TAGS)


@rule(
    Level.SHOULD,
    on=requests,
    reach=ELEMENT,
    settled=unless_faulty,
    where=_has_no_tags,
    source=Source("schemas/canonical/transcript.json", "never between tags in the content"),
    bad=[example("tool-result", _TAGGED)],
    good=[
        example("tool-result"),
        example("tool-result", {"/0/request/messages/1/content": "Write `<think>…</think>` before the answer."}),
    ],
    reads=("reasoning.response-field", "reasoning.response-field-switches", "reasoning.request-field"),
)
def judge(_request: Body, context: Context) -> list[Fault]:
    """The content of an assistant message in a request does not begin with reasoning between <think> tags.

    The model reads it as part of its answer, and imitates it. A reply that came like this is the provider's fault.
    To fix it, send `reasoning_content`, or leave the reasoning out of messages without tool calls.
    """
    tagged = [
        (number, message["content"])
        for number, message in context.assistants
        if find_tagged(message.get("content")) is not None
    ]
    return [
        Fault("expected the answer, got reasoning in <think> tags before it", at=("messages", number, "content"))
        for number, content in tagged
        if not context.index.was_received(context.number, (content,), "content")
    ]
