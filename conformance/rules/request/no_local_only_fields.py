"""Rule: what clients note for themselves stays with them."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, _keys, example, rule
from conformance.wire.elements import Message
from conformance.wire.views import messages

_RESULT = "/0/request/messages/2"
_IGNORED = {"request.unknown-message-field": "ignored"}


@rule(
    Level.MUST,
    on=messages,
    source=Source(
        "schemas/canonical/transcript.json", "Keys that a client keeps on a message for itself are never sent"
    ),
    bad=[
        *(example("tool-result", {f"{_RESULT}/{key}": True}) for key in sorted(_keys.LOCAL)),
        example("tool-result", {"/0/request/messages/1/finishReason": "tool_calls"}, _IGNORED),
    ],
    good=[
        example("tool-result"),
        example("plain"),
        example("tool-result", {f"{_RESULT}/is_error": True}, {"request.known-message-fields": ["is_error"]}),
    ],
    by_schema=True,
)
def judge(message: Message, context: Context) -> list[Fault]:
    """What a client keeps beside a message for itself is not sent.

    Finish reasons, error flags, tool names, times, durations and what an SDK notes of its provider are a client's
    bookkeeping; `isError` above all tells the model nothing, because a failure is text in `content`. To fix it, strip
    these keys when a request is built.
    """
    known = context.claim("request.known-message-fields", ())
    return [
        _keys.fault(message, holder, key, f"expected {key!r} to stay with the client, got it on the wire")
        for holder, key in context.unknown_keys(message.place)
        if key in _keys.LOCAL and key not in known
    ]
