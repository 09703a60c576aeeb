from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules.context import as_words
from conformance.wire.elements import Message
from conformance.wire.reasoning import SIGNATURE_KEYS
from conformance.wire.views import messages

_KEYS = ("thinking_blocks", "reasoning_text", *SIGNATURE_KEYS)
_BLOCKS = [{"type": "thinking", "thinking": "I need the weather.", "signature": "c2lnbmVk"}]
_ADDED = {"/0/request/messages/1/thinking_blocks": _BLOCKS}
_UNKNOWN = "request.unknown-message-field"


@rule(
    Level.SHOULD,
    on=messages,
    source=Source("schemas/canonical/transcript.json", "as `reasoning_content`, or as `reasoning_details`"),
    bad=[
        example("tool-result", _ADDED),
        example("tool-result", {"/0/request/messages/1/reasoning_text": "I need the weather."}),
        example("tool-result", _ADDED, {_UNKNOWN: {"status": 400, "message": "property '{field}' is unsupported"}}),
    ],
    good=[
        example("thinking-session"),
        example("tool-result", _ADDED, {"reasoning.request-field": ["thinking_blocks"]}),
        example("tool-result", _ADDED, {"reasoning.input.thinking_blocks": "accepted"}),
        example(
            "tool-result",
            {
                "/0/request/messages/1/reasoning_text": "I need the weather.",
                "/0/request/messages/1/reasoning_opaque": "c2lnbmVk",
            },
            {"reasoning.request-field": ["reasoning_text", "reasoning_opaque"]},
        ),
    ],
    reads=("reasoning.request-field", _UNKNOWN, *(f"reasoning.input.{key}" for key in _KEYS)),
    by_schema=True,
)
def judge(message: Message, context: Context) -> list[Fault]:
    """Reasoning is sent back in a canonical field, or in one that the provider reads.

    A gateway's own field means nothing to other providers: lenient ones drop it, and those that reject unknown keys
    reject the request. To fix it, send `reasoning_content` or `reasoning_details`.
    """
    if message.role != "assistant":
        return []
    read = as_words(context.claim("reasoning.request-field"))
    return [
        Fault(
            f"expected reasoning_content or reasoning_details, got {key}",
            place=(*holder, key),
            values={"field": key, "role": "assistant"},
            claim=f"reasoning.input.{key}" if context.knows(f"reasoning.input.{key}") else _UNKNOWN,
        )
        for holder, key in context.unknown_keys(message.place)
        if key in _KEYS and holder == message.place and key not in read and not _is_known(key, context)
    ]


def _is_known(key: str, context: Context) -> bool:
    """Return whether the provider accepts the field, or rejects it, which another rule reports."""
    verdict = context.claim(f"reasoning.input.{key}")
    return verdict == "accepted" or isinstance(verdict, dict)
