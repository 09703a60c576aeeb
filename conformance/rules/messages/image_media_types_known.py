from collections.abc import Iterator
from typing import Any, Final

from conformance.documents.pointer import Place
from conformance.results import Level
from conformance.rules import Context, Fault, Source, example, native_keys, rule
from conformance.wire.native_views import NativeBody, in_messages, requests
from conformance.wire.values import as_object, objects

_CLAIM = "messages.image-media-type"
_TEXT = "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
_REFUSED = {_CLAIM: {"status": 400, "message": f"{{path}}.source.base64.media_type: {_TEXT}"}}
_DATA = {"type": "base64", "data": "/9j/4AAQSkZJRg=="}
_JPG = {"type": "image", "source": {**_DATA, "media_type": "image/jpg"}}
_JPEG = {"type": "image", "source": {**_DATA, "media_type": "image/jpeg"}}

KNOWN: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")


@rule(
    Level.MUST,
    on=requests,
    source=Source("https://github.com/anthropics/claude-code/issues/8184", _TEXT),
    bad=[
        example("messages-plain", {"/0/request/messages/0/content": [_JPG]}, _REFUSED),
        example("messages-result", {"/0/request/messages/2/content/0/content": [_JPG]}, _REFUSED),
    ],
    good=[
        example("messages-plain", {"/0/request/messages/0/content": [_JPEG]}, _REFUSED),
        example("messages-result", claims=_REFUSED),
    ],
    claim=_CLAIM,
    wires=("messages",),
)
def judge(request: NativeBody, context: Context) -> list[Fault]:
    """An image in base64 has one of the four media types that the wire has.

    Programs write `image/jpg` for the ending of a file, which is no media type; other formats are not read.
    To fix it, write `image/jpeg`, or convert the image to PNG.
    """
    return [
        Fault(
            f"expected {_wanted(kind)}, got {kind[:40]!r}",
            (*at, "source", "media_type"),
            values={"path": native_keys.vendor_path("messages", at, request.value), "index": at[1], "kind": kind},
        )
        for number, found in in_messages(context.index, context.number, _unknown_kinds)
        for inside, kind in found
        for at in [("messages", number, *inside)]
    ]


def _wanted(kind: str) -> str:
    """Return what a media type has to be: the right name of JPEG for its ending, else any of them."""
    return "'image/jpeg'" if kind.lower() in ("image/jpg", "image/pjpeg") else f"{', '.join(KNOWN[:-1])} or {KNOWN[-1]}"


def _unknown_kinds(message: Any) -> list[tuple[Place, str]]:
    return [each for each in _kinds(message) if each[1] not in KNOWN]


def _kinds(message: Any) -> Iterator[tuple[Place, str]]:
    for position, block in objects(as_object(message).get("content")):
        at = ("content", position)
        yield from _kind(at, block)
        if block.get("type") == "tool_result":
            for place, part in objects(block.get("content")):
                yield from _kind((*at, "content", place), part)


def _kind(at: Place, block: Any) -> Iterator[tuple[Place, str]]:
    source = as_object(block.get("source"))
    kind = source.get("media_type")
    if block.get("type") == "image" and source.get("type") == "base64" and type(kind) is str:
        yield at, kind
