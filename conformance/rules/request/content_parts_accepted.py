from typing import Any

from conformance.results import Level
from conformance.rules import ELEMENT, Context, Fault, Source, example, rule
from conformance.wire.elements import Body
from conformance.wire.views import requests

_CLAIMS = {
    "image_url": "request.image-parts",
    "input_audio": "request.audio-parts",
    "file": "request.file-parts",
}
_REFUSED = {"status": 400, "message": "messages[{index}]: unknown variant `{kind}`, expected `text`"}
_IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/paris.png"}}
_CONTENT = "/0/request/messages/1/content"


@rule(
    Level.MUST,
    on=requests,
    reach=ELEMENT,
    when=lambda claimed: any(claimed.rejects_or_damages(name) for name in _CLAIMS.values()),
    source=Source(
        repo=(
            "0xPlaygrounds/rig@b75850e89949:"
            "tests/cassettes/deepseek/wire_shape_matrix/blocking_video_part_reaches_the_wire.yaml"
        ),
        quote="unknown variant `video_url`, expected `text`",
    ),
    bad=[
        example("plain", {_CONTENT: [_IMAGE]}, {"request.image-parts": _REFUSED}),
        example(
            "plain",
            {_CONTENT: [{"type": "file", "file": {"file_id": "file-1"}}]},
            {"request.file-parts": _REFUSED, "request.image-parts": "accepted"},
        ),
    ],
    good=[
        example("plain", claims={"request.image-parts": _REFUSED}),
        example("plain", {_CONTENT: [{"type": "text", "text": "Hello"}]}, {"request.image-parts": _REFUSED}),
    ],
    reads=tuple(_CLAIMS.values()),
)
def judge(request: Body, context: Context) -> list[Fault]:
    """User messages contain only part types that the provider accepts.

    Text-only models reject images, audio and files. To fix it, omit such parts, describe them in words, or use a model
    that reads them.
    """
    return [
        Fault(
            f"expected part types that the provider accepts, got {part['type']}",
            at=("messages", number, "content", position),
            values={"kind": part["type"], "role": "user", "position": position, "model": request.exchange.model},
            claim=_CLAIMS[part["type"]],
        )
        for number, message in context.messages("user")
        if type(message.get("content")) is list
        for position, part in enumerate(message["content"])
        if type(part) is dict and _claim(part) and context.rejects_or_damages(_claim(part))
    ]


def _claim(part: dict[str, Any]) -> str:
    """Return the name of the claim about a part; empty if its type has none."""
    kind = part.get("type")
    return _CLAIMS.get(kind, "") if type(kind) is str else ""
