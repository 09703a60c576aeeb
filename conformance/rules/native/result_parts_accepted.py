from collections.abc import Iterator
from typing import Any, NamedTuple

from conformance.documents.pointer import Place
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, rule
from conformance.wire.native_views import NativeBody, requests
from conformance.wire.values import as_object, objects

_IMAGES, _ERRORS = "results.image-parts", "messages.error-result-parts"
_REFUSED = {"status": 400, "message": "messages.{index}: no {kind} in a result"}
_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
_CONTENT = "/0/request/messages/2/content/0/content"
_FAILED = {"/0/request/messages/2/content/0/is_error": True, _CONTENT: [_IMAGE]}
_PARTS = "/0/request/contents/2/parts/0/functionResponse/parts"
_INLINE = [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]


class _Part(NamedTuple):
    """An image or a file in a result: its kind, where it is, and the claim about it."""

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
    return [
        Fault(
            f"expected only text in this result, got {part.kind}",
            at=part.at,
            values={"index": part.at[1], "position": part.at[3], "kind": part.kind},
            claim=part.claim,
        )
        for part in (*_blocks(request.value), *_inline(request.value))
        if context.rejects_or_damages(part.claim)
    ]


def _blocks(body: dict[str, Any]) -> Iterator[_Part]:
    """Yield the blocks in results of Messages that are not text."""
    for number, message in objects(body.get("messages")):
        for position, block in objects(message.get("content")):
            if block.get("type") != "tool_result":
                continue
            for place, part in objects(block.get("content")):
                if (kind := part.get("type")) in ("image", "document"):
                    claim = _ERRORS if block.get("is_error") is True else _IMAGES
                    yield _Part(str(kind), ("messages", number, "content", position, "content", place), claim)


def _inline(body: dict[str, Any]) -> Iterator[_Part]:
    """Yield the parts of results of Gemini, which hold files."""
    for number, content in objects(body.get("contents")):
        for position, part in objects(content.get("parts")):
            for place, each in objects(as_object(part.get("functionResponse")).get("parts")):
                at = ("contents", number, "parts", position, "functionResponse", "parts", place)
                yield _Part(next(iter(each), "a part"), at, _IMAGES)
