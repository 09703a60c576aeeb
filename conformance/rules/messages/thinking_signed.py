from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeMessage, special_messages
from conformance.wire.values import objects

_SIGNATURE = "/0/request/messages/1/content/0/signature"
_REPLY = "/0/response/content/0/signature"
_SENT = "/1/request/messages/1/content/0/signature"


@rule(
    Level.MUST,
    on=special_messages,
    where=lambda message, _context: "thinking" in message.kinds,
    source=Source(
        package="pypi/anthropic@2.12.0:anthropic/types/thinking_block_param.py",
        quote="signature: Required[str]",
    ),
    bad=[example("messages-result", {_SIGNATURE: REMOVE})],
    good=[
        example("messages-result"),
        example(
            "messages-session", {_REPLY: REMOVE, _SENT: REMOVE, "/2/request/messages/1/content/0/signature": REMOVE}
        ),
    ],
    claim="signature.omitted",
    wires=("messages",),
)
def judge(message: NativeMessage, context: Context) -> list[Fault]:
    """A thinking block that is sent back has its signature.

    The signature carries the reasoning, even where the text is empty; without it the server rejects the request. Blocks
    that a server sent without one are that server's. To fix it, keep the blocks of a reply whole; of a stream, add the
    `signature_delta`.
    """
    unsigned = [(at, block) for at, block in _thinking(message) if block.get("signature") is None]
    if not unsigned:
        return []
    received = [
        block.get("thinking")
        for exchange in context.index.conversation[: context.number]
        if exchange.native is not None and exchange.native.reply is not None
        for _, block in objects(exchange.native.reply.get("content"))
        if not block.get("signature")
    ]
    return [
        Fault("expected the signature of this thinking block, got none", at=("content", at))
        for at, block in unsigned
        if block.get("thinking") not in received
    ]


def _thinking(message: NativeMessage) -> list[tuple[int, dict[str, object]]]:
    """Return the thinking blocks of a message, each with its position."""
    return [(at, dict(block)) for at, block in objects(message.value.get("content")) if block.get("type") == "thinking"]
