from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeMessage, messages


@rule(
    Level.MUST,
    on=messages,
    where=lambda message, _context: "content" in message.value and not message.is_prefill,
    source=Source(
        "https://platform.claude.com/docs/en/api/errors",
        "all messages must have non-empty content except for the optional final assistant message",
    ),
    bad=[
        example("messages-plain", {"/0/request/messages/4/content": ""}),
        example("messages-plain", {"/0/request/messages/3/content": []}),
    ],
    good=[example("messages-plain")],
    claim="messages.empty-content",
    wires=("messages",),
    reach=ELEMENT,
)
def judge(message: NativeMessage, _context: Context) -> list[Fault]:
    """A message has content, unless it is an assistant message at the end.

    An aborted turn or a reply that held only what a client drops leaves such a message behind. To fix it, leave the
    message out, together with what belongs to it.
    """
    content = message.value["content"]
    if content not in ("", []):
        return []
    return [Fault(f"expected content, got {content!r}", at=("content",), values={"index": message.number})]
