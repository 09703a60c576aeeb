from typing import Any, NamedTuple

from conformance.documents.pointer import Place
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, in_messages, requests
from conformance.wire.values import as_object, objects

_IMAGES, _ERRORS = "results.image-parts", "messages.error-result-parts"
_REFUSED = {"status": 400, "message": "messages.{index}: no {kind} in a result"}
_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
_CONTENT = "/0/request/messages/2/content/0/content"
_FAILED = {"/0/request/messages/2/content/0/is_error": True, _CONTENT: [_IMAGE]}
_PARTS = "/0/request/contents/2/parts/0/functionResponse/parts"
_INLINE = [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]


class _Part(NamedTuple):
    """An image or a file in a result: its kind, where it is in the message, and the claim about it."""

    kind: str
    at: Place
    claim: str


@rule(
    Level.MUST,
    on=requests,
    when=lambda claimed: any([claimed.rejects_or_damages(each) for each in (_IMAGES, _ERRORS)]),
    source=Source(
        package="pypi/any-llm-sdk@1.40.2:any_llm/providers/gemini/utils.py#L505",
        quote="Whether the model reads media parts of a function response; Gemini 2.5 and older reject",
    ),
    bad=[
        example("messages-result", {_CONTENT: [_IMAGE]}, {_IMAGES: _REFUSED}),
        example("messages-result", _FAILED, {_ERRORS: _REFUSED}),
        example("gemini-result", {_PARTS: _INLINE}, {_IMAGES: _REFUSED}),
    ],
    good=[example("messages-result", {_CONTENT: [_IMAGE]}, {_ERRORS: _REFUSED})],
    reads=(_IMAGES, _ERRORS),
    wires=("messages", "gemini"),
)
def judge(request: NativeBody, context: Context) -> list[Fault]:
    """A result holds no image or file that the model does not take there.

    Tools that take screenshots return images; some models read them only beside the result, and Claude none in a result
    that is marked as an error. To fix it, put the image into the same message, behind all results.
    """
    find, key = (_blocks, "messages") if request.native.protocol == "messages" else (_inline, "contents")
    return [
        Fault(
            f"expected only text in this result, got {part.kind}",
            at=(key, number, *part.at),
            values={"index": number, "position": part.at[1], "kind": part.kind},
            claim=part.claim,
        )
        for number, found in in_messages(context.index, context.number, find)
        for part in found
        if context.rejects_or_damages(part.claim)
    ]


def _blocks(message: Any) -> list[_Part]:
    """Return the blocks in results of Messages that are not text."""
    return [
        _Part(str(kind), ("content", at, "content", to), _ERRORS if block.get("is_error") is True else _IMAGES)
        for at, block in objects(as_object(message).get("content"))
        if block.get("type") == "tool_result"
        for to, part in objects(block.get("content"))
        if (kind := part.get("type")) in ("image", "document")
    ]


def _inline(content: Any) -> list[_Part]:
    """Return the parts of results of Gemini, which hold files."""
    return [
        _Part(next(iter(each), "a part"), ("parts", at, "functionResponse", "parts", to), _IMAGES)
        for at, part in objects(as_object(content).get("parts"))
        for to, each in objects(as_object(part.get("functionResponse")).get("parts"))
    ]
