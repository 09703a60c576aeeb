from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, replies
from conformance.wire.values import objects

_CLAIM = "content.empty-text-part"
_REFUSED = {_CLAIM: {"status": 400, "message": "messages: text content blocks must be non-empty"}}
_EMPTY = {"/0/response/content/-": {"type": "text", "text": ""}}


@rule(
    Level.SHOULD,
    on=replies,
    where=lambda reply, _context: any(_texts(reply)),
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    needs=(_CLAIM,),
    source=Source(
        "https://github.com/anthropics/anthropic-sdk-python/issues/461",
        "SDK returns empty text blocks, but does not accept them",
    ),
    bad=[example("messages-plain", _EMPTY, _REFUSED)],
    good=[example("messages-plain", claims=_REFUSED)],
    wires=("messages",),
)
def judge(reply: NativeBody, _context: Context) -> list[Fault]:
    """A text block of a reply has text where the provider rejects empty text.

    A client sends the block back as it came, and the provider rejects the conversation from then on. To fix it, leave
    out blocks without text.
    """
    return [
        Fault("expected text that is not empty, got ''", at=("content", at, "text"))
        for at, text in _texts(reply)
        if not text
    ]


def _texts(reply: NativeBody) -> list[tuple[int, object]]:
    """Return the texts of a reply, each with the position of its block."""
    listed = objects(reply.value.get("content"))
    return [(at, block["text"]) for at, block in listed if block.get("type") == "text" and "text" in block]
