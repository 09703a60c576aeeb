from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, message_keys, rule
from conformance.wire.elements import Message
from conformance.wire.views import messages

_CALL = "/0/request/messages/1/tool_calls/0"
_NAME_MISSING = "results.name-missing"
_REFUSED = {"status": 400, "message": "Unknown parameter: 'messages[{index}].{field}'."}


@rule(
    Level.SHOULD,
    on=messages,
    harm=Harm.FORM,
    source=Source(
        "https://github.com/labring/FastGPT/issues/1253", "Unknown parameter: 'messages[2].tool_calls[0].index'."
    ),
    bad=[
        example("plain", {"/0/request/messages/1/id": "msg_1"}),
        example("plain", {"/0/request/messages/1/id": "msg_1"}, {"request.unknown-message-field": _REFUSED}),
        example("tool-result", {f"{_CALL}/index": 0}, {"request.unknown-call-field": _REFUSED}),
        example("tool-result", {"/0/request/messages/2/name": "get_weather"}),
        example(
            "plain",
            {"/0/request/messages/1/content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]},
        ),
    ],
    good=[
        example("plain", {"/0/request/messages/1/prefix": False}, {"request.known-message-fields": ["prefix"]}),
        example("plain", {"/0/request/messages/1/name": "ada"}),
        example("tool-result", {"/0/request/messages/2/name": "get_weather"}, {_NAME_MISSING: _REFUSED}),
        example("tool-result-parallel"),
    ],
    reads=(*message_keys.CLAIMS, "results.name-field", _NAME_MISSING),
    by_schema=True,
)
def judge(message: Message, context: Context) -> list[Fault]:
    """Messages contain only the keys of the canonical wire.

    Lenient hosts drop keys that they do not know, strict ones reject the whole request. To fix it, build messages from
    the keys that `schemas/canonical/message.json` lists for their role, instead of sending what you store.
    """
    known = context.claim("request.known-message-fields", ())
    return [
        message_keys.fault(message, holder, key, f"expected only canonical keys, got {key!r:.60}")
        for holder, key in context.unknown_keys(message.place)
        if key not in message_keys.CLIENT_ONLY and key not in message_keys.REASONING and key not in known
        if not (message.role == "tool" and key == "name" and _is_wanted(context))
    ]


def _is_wanted(context: Context) -> bool:
    """Return whether any source says that the provider rejects a result without the name of its function."""
    return _NAME_MISSING in context.contested or context.rejects_or_damages(_NAME_MISSING)
