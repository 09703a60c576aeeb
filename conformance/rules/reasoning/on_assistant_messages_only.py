from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.elements import Message
from conformance.wire.reasoning import ALL_KEYS
from conformance.wire.views import messages

_KEYS = frozenset(ALL_KEYS)
_CLAIM, _UNKNOWN = "reasoning.on-other-role", "request.unknown-message-field"


@rule(
    Level.SHOULD,
    on=messages,
    source=Source("https://platform.openai.com/docs/api-reference/chat/create"),
    bad=[
        example("plain", {"/0/request/messages/1/reasoning_content": "Is May cold?"}),
        example("tool-result", {"/0/request/messages/2/reasoning": "18, I think."}),
        example(
            "tool-result",
            {"/0/request/messages/2/reasoning": "18, I think."},
            {_UNKNOWN: {"status": 400, "message": "property '{field}' is unsupported"}},
        ),
    ],
    good=[example("thinking-session")],
    claim=_CLAIM,
    reads=(_UNKNOWN,),
    by_schema=True,
)
def judge(message: Message, context: Context) -> list[Fault]:
    """Only assistant messages carry reasoning.

    In a user or tool message it is an unknown key: strict providers reject it, others drop it. To fix it, keep the
    reasoning with the reply that it belongs to.
    """
    if message.role == "assistant":
        return []
    return [
        Fault(
            f"expected no {key} in a message of role {message.role!r:.40}",
            place=(*holder, key),
            values={"field": key, "role": message.role},
            claim=None if _CLAIM in context.claims else _UNKNOWN,
        )
        for holder, key in context.unknown_keys(message.place)
        if key in _KEYS and holder == message.place
    ]
