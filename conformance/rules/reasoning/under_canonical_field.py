"""Rule: reasoning goes back under a key that the wire has."""

from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.rules._context import listed
from conformance.wire.elements import Message
from conformance.wire.views import messages

_KEYS = ("thinking_blocks", "extra_content")
_BLOCKS = [{"type": "thinking", "thinking": "I need the weather.", "signature": "c2lnbmVk"}]
_ADDED = {"/0/request/messages/1/thinking_blocks": _BLOCKS}


@rule(
    Level.SHOULD,
    on=messages,
    source=Source("schemas/canonical/transcript.json", "as `reasoning_content`, or as `reasoning_details`"),
    bad=[example("tool-result", _ADDED)],
    good=[
        example("thinking-session"),
        example("tool-result", _ADDED, {"reasoning.request-field": ["thinking_blocks"]}),
        example("tool-result", _ADDED, {"reasoning.input.thinking_blocks": "accepted"}),
    ],
    by_schema=True,
)
def judge(message: Message, context: Context) -> list[Fault]:
    """Reasoning goes back under a key of the canonical wire, or one that the provider reads.

    A gateway's own name for it means nothing to other providers: lenient ones drop it and strict ones refuse the
    request. To fix it, send `reasoning_content` or `reasoning_details`.
    """
    if message.role != "assistant":
        return []
    read = listed(context.claim("reasoning.request-field"))
    return [
        Fault(
            f"expected reasoning_content or reasoning_details, got {key}",
            place=(*holder, key),
            values={"field": key, "role": "assistant"},
            claim=f"reasoning.input.{key}",
        )
        for holder, key in context.unknown_keys(message.place)
        if key in _KEYS and holder == message.place and key not in read and not _is_judged_elsewhere(key, context)
    ]


def _is_judged_elsewhere(key: str, context: Context) -> bool:
    """Say whether a claim about the field lets it pass, or gives it to `not-sent-where-refused`."""
    verdict = context.claim(f"reasoning.input.{key}")
    return verdict == "accepted" or isinstance(verdict, dict)
