from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import EVERY, Context, Fault, Source, example, rule
from conformance.rules.conditions import reply_has_reasoning
from conformance.rules.context import as_words
from conformance.rules.reasoning_claims import reply_fields
from conformance.wire.elements import Reply
from conformance.wire.reasoning import carried_fields
from conformance.wire.views import replies

_AS_REASONING = {"reasoning.response-field": "reasoning"}


@rule(
    Level.MUST,
    on=replies,
    among=reply_has_reasoning,
    needs=("reasoning.response-field",),
    reads=("reasoning.response-field-switches",),
    source=Source(
        "https://github.com/vllm-project/vllm/issues/27755",
        "That PR makes the change from `reasoning_content` to `reasoning`, maintaining backwards compatibility.",
    ),
    bad=[
        example("thinking-session", claims=_AS_REASONING),
        example("thinking-session", claims={"reasoning.response-field": "none"}),
    ],
    good=[
        example("thinking-session", claims={"reasoning.response-field": ["reasoning", "reasoning_content"]}),
        example("details-session", claims={"reasoning.response-field": ["reasoning", "reasoning_details"]}),
        example(
            "reply-thinking",
            {
                "/0/response/choices/0/message/reasoning": "A greeting.",
                "/0/response/choices/0/message/reasoning_content": REMOVE,
                "/0/request/reasoning_format": "parsed",
            },
            {
                "reasoning.response-field": "reasoning_content",
                "reasoning.response-field-switches": [
                    {"at": "/reasoning_format", "equals": "parsed", "field": "reasoning"}
                ],
            },
        ),
    ],
    wires=EVERY,
)
def judge(reply: Reply, context: Context) -> list[Fault]:
    """A reply carries its reasoning in a field that the provider documents.

    After a rename, reasoning is lost: clients look for the old field, find nothing and send nothing back. To fix it,
    reply with the documented field, beside a new one for as long as clients need it.
    """
    found, claimed = carried_fields(reply.message), reply_fields(context)
    if all(field in claimed for field in found):
        return []
    wanted = " or ".join(field for field in as_words(claimed) if field != "none")
    expected = f"reasoning in {wanted}" if wanted else "no reasoning"
    message = f"expected {expected}, got it in {', '.join(found)}"
    return [Fault(message, at=("message", field)) for field in found[:1] if field in reply.message] or [
        Fault(message, at=("message", "content"))
    ]
