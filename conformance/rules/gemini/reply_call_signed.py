from typing import Any

from conformance.documents.pointer import REMOVE
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, replies
from conformance.wire.values import as_object, objects

_CLAIM = "signature.omitted"
_REFUSED = {_CLAIM: {"status": 400, "message": "Function call is missing a thought_signature in functionCall parts."}}
_SIGNATURE = "/0/response/2/candidates/0/content/parts/0/thoughtSignature"


@rule(
    Level.MUST,
    on=replies,
    where=lambda reply, _context: bool(_calls(reply)),
    when=lambda claimed: claimed.rejects_or_damages(_CLAIM),
    needs=(_CLAIM,),
    source=Source(
        "https://github.com/lbjlaq/Antigravity-Manager/issues/139",
        "Function call is missing a thought_signature in functionCall parts.",
    ),
    bad=[example("gemini-stream", {_SIGNATURE: REMOVE}, _REFUSED)],
    good=[example("gemini-session", claims=_REFUSED), example("gemini-stream", claims=_REFUSED)],
    wires=("gemini",),
)
def judge(reply: NativeBody, _context: Context) -> list[Fault]:
    """The first call of a reply has its thought signature where the provider rejects calls without one.

    A client sends the call back as it came, and the provider rejects the next request; the bypass values are for calls
    of other models. To fix it, pass the signature on, beside the `functionCall`.
    """
    place, part = _calls(reply)[0]
    if part.get("thoughtSignature", part.get("thought_signature")):
        return []
    return [Fault("expected a thoughtSignature beside this functionCall, got none", at=place)]


def _calls(reply: NativeBody) -> list[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Return the parts of the first candidate that call a function, each with its place."""
    candidates = [each for _, each in objects(reply.value.get("candidates"))]
    content = as_object(candidates[0].get("content")) if candidates else {}
    return [
        (("candidates", 0, "content", "parts", at), dict(part))
        for at, part in objects(content.get("parts"))
        if "functionCall" in part or "function_call" in part
    ]
