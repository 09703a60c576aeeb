from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, replies
from conformance.wire.values import objects

_CLAIM = "signature.omitted"
_REFUSED = {_CLAIM: {"status": 400, "message": "messages.1.content.0.thinking.signature: Field required"}}
_UNSIGNED = {"/0/response/3": {"type": "ping"}}


@rule(
    Level.MUST,
    on=replies,
    where=lambda reply, _context: any(_thinking(reply)),
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    needs=(_CLAIM,),
    source=Source(
        "https://github.com/sgl-project/sglang/issues/39752",
        "emits a streaming thinking block without any `signature` across the complete block lifecycle",
    ),
    bad=[example("messages-stream", _UNSIGNED, _REFUSED)],
    good=[example("messages-session", claims=_REFUSED), example("messages-stream", claims=_REFUSED)],
    wires=("messages",),
)
def judge(reply: NativeBody, _context: Context) -> list[Fault]:
    """The thinking in a reply has its signature where the provider rejects thinking without one.

    A client sends the block back as it came, and the provider rejects the conversation from then on; some SDKs fail
    before, because their types require the signature. To fix it, sign each block, in a stream by a `signature_delta`.
    """
    return [
        Fault("expected the signature of this thinking block, got none", at=("content", at))
        for at, block in _thinking(reply)
        if not block.get("signature")
    ]


def _thinking(reply: NativeBody) -> list[tuple[int, dict[str, object]]]:
    """Return the thinking blocks of a reply, each with its position."""
    listed = objects(reply.value.get("content"))
    return [(at, dict(block)) for at, block in listed if block.get("type") == "thinking"]
