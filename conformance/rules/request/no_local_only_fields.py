from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, message_keys, rule
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
        *(example("tool-result", {f"{_RESULT}/{key}": True}) for key in sorted(message_keys.CLIENT_ONLY)),
        example("tool-result", {"/0/request/messages/1/finishReason": "tool_calls"}, _IGNORED),
    ],
    good=[
        example("tool-result"),
        example("plain"),
        example("tool-result", {f"{_RESULT}/is_error": True}, {"request.known-message-fields": ["is_error"]}),
    ],
    reads=message_keys.CLAIMS,
    by_schema=True,
)
def judge(message: Message, context: Context) -> list[Fault]:
    """A request contains none of the client's own bookkeeping.

    Finish reasons, error flags, tool names, times, durations and an SDK's notes about its provider belong to the
    client. `isError` in particular tells the model nothing: a failure is text in `content`. To fix it, remove these
    keys when you build a request.
    """
    known = context.claim("request.known-message-fields", ())
    return [
        message_keys.fault(message, holder, key, f"expected no {key!r} in a request, got one")
        for holder, key in context.unknown_keys(message.place)
        if key in message_keys.CLIENT_ONLY and key not in known
    ]
