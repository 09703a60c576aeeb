from typing import Any

from conformance.documents.pointer import Place
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, native_keys, rule
from conformance.wire.native_views import NativeBody, in_messages, requests
from conformance.wire.values import as_object
from conformance.wires.gemini.names import listed, of_either

_CLAIM = "content.empty-text-part"
_WORDS = "Unable to submit request because it has an empty text parameter."
_REFUSED = {_CLAIM: {"status": 400, "message": _WORDS}}
_PART = "/0/request/contents/0/parts/0"


@rule(
    Level.SHOULD,
    on=requests,
    source=Source("https://github.com/google-gemini/deprecated-generative-ai-python/issues/697", _WORDS),
    bad=[example("gemini-result", {_PART: {"text": ""}}, _REFUSED)],
    good=[
        example("gemini-result", claims=_REFUSED),
        example("gemini-result", {_PART: {"text": "", "thoughtSignature": "c2lnbmVk"}}, _REFUSED),
    ],
    claim=_CLAIM,
    wires=("gemini",),
)
def judge(request: NativeBody, context: Context) -> list[Fault]:
    """A part with text has some.

    Translators make one from a message without content. An empty text that has a signature comes from the model, and
    goes back as it is. To fix it, leave the part out, and the content if it has no other.
    """
    return [
        Fault(
            "expected text that is not empty, got ''",
            (*place, "text"),
            values={"path": native_keys.vendor_path("gemini", place, request.value), "index": number},
        )
        for number, places in in_messages(context.index, context.number, _empty_texts)
        for at in places
        for place in [("contents", number, "parts", *at)]
    ]


def _empty_texts(content: Any) -> list[Place]:
    """Return the places of the parts of a content that are an empty text without a signature."""
    return [
        at
        for at, part in listed(as_object(content).get("parts"))
        if part.get("text") == "" and len(part) == 1 and of_either(part, "thoughtSignature") is None
    ]
