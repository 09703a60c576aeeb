from typing import Final

from conformance.results import Harm, Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.text import quoted
from conformance.wires.gemini.views import SignedText, signed_texts

_CALLS: Final = [
    {"functionCall": {"name": "get_weather", "args": {"city": "Paris"}}, "thoughtSignature": "c2lnbmVkLTE="},
    {"functionCall": {"name": "get_weather", "args": {"city": "Rome"}}},
]
_PARTS: Final = [{"text": "I look.", "thoughtSignature": "c2lnbmVkLTI+"}, *_CALLS]
_SIGNED: Final = {"/0/response/candidates/0/content/parts": _PARTS, "/1/request/contents/1/parts": _PARTS}
_BACK: Final = "/1/request/contents/1/parts/0/thoughtSignature"


@rule(
    Level.MUST,
    on=signed_texts,
    harm=Harm.CONTENT,
    source=Source("https://ai.google.dev/gemini-api/docs/thought-signatures", "Corrupted thought signature."),
    bad=[
        example("gemini-session", {**_SIGNED, _BACK: "b3RoZXI="}),
        example("gemini-session", {**_SIGNED, _BACK: "skip_check"}, {"signature.bypass": "skip_check"}),
    ],
    good=[
        example("gemini-session", _SIGNED),
        example("gemini-session", {**_SIGNED, _BACK: "c2lnbmVkLTI-"}),
    ],
    reads=("signature.altered", "signature.bypass"),
    wires=("gemini",),
)
def judge(back: SignedText, context: Context) -> list[Fault]:
    """The thought signature of a text is sent back unchanged, if it is sent back.

    It may be left out, which costs quality; a changed one is rejected as corrupted. What skips the check is for the
    history of other models, so in place of a signature that was given it is a SHOULD. To fix it, store the parts of a
    reply as they came, and send them back whole.
    """
    if back.is_known:
        return []
    expected = " or ".join(map(quoted, back.given))
    key = "thoughtSignature" if "thoughtSignature" in back.value else "thought_signature"
    message = f"expected thoughtSignature {expected} as in the reply, got {quoted(back.got)}"
    if back.got == context.claim("signature.bypass"):
        return [Fault(f"{message}, which skips the check", at=(key,), level=Level.SHOULD)]
    return [Fault(message, at=(key,), claim="signature.altered", is_loss=True)]
