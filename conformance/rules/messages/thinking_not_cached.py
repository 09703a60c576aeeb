from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeMessage, messages
from conformance.wire.values import objects

_THINKING = ("thinking", "redacted_thinking")
_MARK = {"/0/request/messages/1/content/0/cache_control": {"type": "ephemeral"}}
_CLAIM = "messages.thinking-cached"


@rule(
    Level.MUST,
    on=messages,
    where=lambda message, _context: not message.kinds.isdisjoint(_THINKING),
    source=Source(
        "https://platform.claude.com/docs/en/build-with-claude/prompt-caching",
        "Thinking blocks cannot be cached directly with `cache_control`.",
    ),
    bad=[
        example("messages-result", _MARK),
        example("messages-result", _MARK, {_CLAIM: {"status": 400, "message": "Extra inputs are not permitted"}}),
    ],
    good=[
        example("messages-session"),
        example("messages-result", {"/0/request/messages/1/content/1/cache_control": {"type": "ephemeral"}}),
    ],
    claim=_CLAIM,
    wires=("messages",),
    reach=ELEMENT,
)
def judge(message: NativeMessage, _context: Context) -> list[Fault]:
    """A thinking block has no cache_control.

    The server rejects it; thinking is cached with what follows it. Clients that mark the last block of a message break
    where the model only thinks. To fix it, mark the last block that is not a thinking block.
    """
    return [
        Fault(
            f"expected no cache_control on a block of type {block['type']}, got one",
            at=("content", position, "cache_control"),
            values={"index": message.number, "position": position, "kind": block["type"]},
        )
        for position, block in _thinking(message)
        if block.get("cache_control") is not None
    ]


def _thinking(message: NativeMessage) -> list[tuple[int, dict[str, str]]]:
    return [(at, dict(block)) for at, block in objects(message.value.get("content")) if block.get("type") in _THINKING]
